/* The options of an exchange, and of whatever else makes one, in C, C++, Fortran and Python: a new
 * one is a row here, and an argument of Python's Exchange. */
#ifndef PARHELION_OPTIONS_H
#define PARHELION_OPTIONS_H

/* X(kind, name). Empty, zero and false: as the library or the environment chooses. All but the time
 * limit, threads, progress_thread and combine_in_end are equal on all ranks. */
#define PHL_EXCHANGE_OPTIONS(X)                                                                 \
    /* "auto", a transport's name, or a hybrid "NEAR+FAR": NEAR for neighbors on the own node,  \
     * FAR for the others. "by_dimension:NAME" and "far_by_dimension:NAME" go dimension by      \
     * dimension. Empty: the environment variable PARHELION_TRANSPORT, else "auto". */          \
    X(TEXT, transport)                                                                          \
    /* When nothing arrives for longer than this, a wait is an error that says who did not      \
     * answer. 0: the environment variable PARHELION_TIMEOUT, else never. */                    \
    X(SECONDS, timeout_s)                                                                       \
    /* Threads of this rank that share its large copies, the caller among them. 0: the          \
     * environment variable PARHELION_THREADS, else 1. They run on the cores that the rank may  \
     * use: bind it to as many. */                                                              \
    X(COUNT, threads)                                                                           \
    /* Whether a thread of the library gets the exchange on between begin and end, for          \
     * transports that get on only while they are polled. It takes some of a core's time; MPI   \
     * must have been started with MPI_THREAD_MULTIPLE where MPI moves the data, or the thread  \
     * does nothing. False: as the environment variable PARHELION_PROGRESS says (1: yes), else  \
     * no. */                                                                                   \
    X(FLAG, progress_thread)                                                                    \
    /* How the exchange will be used: begun and ended around work (true), or called at once.    \
     * "auto" measures it so, and counts only what is spent inside begin and end. False: as the \
     * environment variable PARHELION_OVERLAP says (1: yes), else no. */                        \
    X(FLAG, overlap)                                                                            \
    /* A promise: it is only ever called at once, by all ranks, none of which waits for another \
     * one's call to return before its own; begin is refused. Then "auto" tries, too, to pass   \
     * edges and corners on, dimension by dimension, and to collect what a node owes another    \
     * (docs/transports.md, "Dimension by dimension", "Node by node"), which a rank that has    \
     * begun and gone away would hold up. */                                                    \
    X(FLAG, at_once)                                                                            \
    /* The work, about: between begin and end, or before each call; "auto" spins as long        \
     * between its trials. Ranks that come from work do not call at the same time, which makes  \
     * some transports slower than others. 0 to 1. 0: with overlap as long as an exchange       \
     * takes, 200 µs at most; else none. */                                                    \
    X(SECONDS, work_s)                                                                          \
    /* Whether a reverse exchange combines in its end alone: until then owned cells may be read \
     * and written. Else it may combine what has arrived from begin on. */                      \
    X(FLAG, combine_in_end)                                                                     \
    /* Checked mode (docs/checks.md). Neighbors tell each other each call, with its direction,  \
     * reduction, fields and depth, and a rank that makes another one than its neighbor gets an \
     * error that says who asked for what, as does the neighbor, instead of both waiting.       \
     * Ghosts hold signalling NaNs, or bytes of 0xdb, while an exchange that fills them is      \
     * under way; and what the program writes meanwhile though it must not is an error of this  \
     * rank at the end, with field, cell and both values. Without a time limit there is one of  \
     * 30 s. Takes some messages for each call, copies of what is sent, and memory; nothing     \
     * where it is off. False: as the environment variable PARHELION_CHECK says (1: yes), else  \
     * no. */                                                                                   \
    X(FLAG, check)

#define PHL_C_OPTION(kind, name) PHL_C_##kind name;
#define PHL_C_TEXT const char*
#define PHL_C_SECONDS double
#define PHL_C_COUNT int32_t
#define PHL_C_FLAG int32_t /* 1 or 0 */

#define PHL_CPP_OPTION(kind, name) PHL_CPP_##kind name = {};
#define PHL_CPP_TEXT std::string
#define PHL_CPP_SECONDS double
#define PHL_CPP_COUNT int
#define PHL_CPP_FLAG bool

#endif
