"""What Parhelion raises besides ValueError and TypeError."""


class Error(Exception):
    """Something that is neither a wrong value nor a wrong type; base of the others here."""


class CommunicationError(Error):
    """MPI is not running or one of its calls failed, or an exchange is used after it failed."""


class ExchangeTimeoutError(Error, TimeoutError):
    """A neighbor did not answer within the time limit; the message says which one."""


class LostPeerError(Error, ConnectionError):
    """A neighbor has ended."""


class ResourceError(Error, OSError):
    """The machine refused: memory, files, system calls."""


class MpiMismatchError(Error, ImportError):
    """Parhelion is not built for the MPI that mpi4py is bound to, or two MPIs are in this process."""


class InputError(ValueError):
    """A file, option or build that a user named cannot be used; says what, where, and the remedy. Commands end by it with status 2."""


class RanksFailed(Error):
    """The ranks of a command crashed or were stopped; finished cases are kept. Commands end by it with status 3."""


OK, WRONG_VALUE, BAD_INPUT, RANKS_FAILED = range(4)  # exit statuses of commands


# In the order of ErrorKind in C++, which counts from 1.
CLASSES: tuple[type[Exception], ...] = (
    ValueError,
    TypeError,
    CommunicationError,
    ExchangeTimeoutError,
    LostPeerError,
    ResourceError,
)


def class_of(kind: int) -> type[Exception]:
    """The exception for a kind of C++ error. Local."""
    return CLASSES[kind - 1] if 1 <= kind <= len(CLASSES) else Error


def kind_of(error: BaseException) -> int:
    """The kind by which other ranks are told about `error`. Local."""
    for kind, known in enumerate(CLASSES, start=1):
        if isinstance(error, known):
            return kind
    return CLASSES.index(ResourceError) + 1
