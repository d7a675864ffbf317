"""What people say about a run."""

from ..cli.errors import BadInput
from .variables import secret_labels


def parse_labels(labels: tuple[str, ...]) -> dict[str, str]:
    """`KEY=VALUE` words as a mapping."""
    pairs = [label.partition("=") for label in labels]
    for label, (key, equals, _) in zip(labels, pairs, strict=True):
        if not key.strip() or not equals:
            raise BadInput(f"--label {label}: give KEY=VALUE, such as image=v0.4")
    told = {key.strip(): value.strip() for key, _, value in pairs}
    for key in secret_labels(told):
        raise BadInput(f"--label {key}=…: it looks like a secret, and labels are kept and shown; leave it out, or name it otherwise")
    return told
