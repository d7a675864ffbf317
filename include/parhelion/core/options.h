/* Options of exchanges and of all objects that contain one, in all languages. To add one, add a row
 * here and an argument of Python's Exchange. */
#ifndef PARHELION_OPTIONS_H
#define PARHELION_OPTIONS_H

/* X(kind, name). Empty, 0 and false: the library or the environment chooses. All ranks pass equal
 * values, except for timeout_s, threads, progress_thread and combine_in_end. */
#define PHL_EXCHANGE_OPTIONS(X)                                                                 \
    /* "auto", a transport, or a hybrid "NEAR+FAR": NEAR for neighbors on the same node, FAR    \
     * for the others. "by_dimension:NAME" and "far_by_dimension:NAME" exchange dimension by    \
     * dimension. Empty: the environment variable PARHELION_TRANSPORT, else "auto". */          \
    X(TEXT, transport)                                                                          \
    /* Seconds without any arrival after which a wait throws an error that names the silent     \
     * ranks. 0: the environment variable PARHELION_TIMEOUT, else no limit. */                  \
    X(SECONDS, timeout_s)                                                                       \
    /* Threads of this rank that share its large copies, including the caller. 0: the           \
     * environment variable PARHELION_THREADS, else 1. Bind the rank to as many cores. */       \
    X(COUNT, threads)                                                                           \
    /* Whether a library thread progresses the exchange between begin and end, for transports   \
     * that progress only when polled. The thread takes some of a core's time; if MPI moves the \
     * data, the thread needs MPI_THREAD_MULTIPLE and otherwise does nothing. False: the        \
     * environment variable PARHELION_PROGRESS (1: yes), else no. */                            \
    X(FLAG, progress_thread)                                                                    \
    /* Whether the program computes between begin and end. If so, "auto" benchmarks that use    \
     * and counts only the time inside begin and end. False: the environment variable           \
     * PARHELION_OVERLAP (1: yes), else no. */                                                  \
    X(FLAG, overlap)                                                                            \
    /* A promise: all ranks only make whole calls (begin is refused), and no rank waits for     \
     * another rank's call to return before making its own. "auto" then also tries to forward   \
     * edges and corners dimension by dimension and to aggregate the messages of a node         \
     * (docs/transports.md, "Dimension by dimension", "Node by node"); a rank that computes     \
     * between begin and end would delay both. */                                               \
    X(FLAG, at_once)                                                                            \
    /* Approximate time of the work between begin and end, or before each call, 0 to 1 s;       \
     * "auto" spins as long between its trials, because work makes ranks arrive at different    \
     * times, which slows some transports down. 0: with overlap the time of an exchange, at     \
     * most 200 µs; else none. */                                                              \
    X(SECONDS, work_s)                                                                          \
    /* Whether a reverse exchange combines only in end, so that owned cells may be read and     \
     * written until then. False: it may combine arrivals from begin on. */                     \
    X(FLAG, combine_in_end)                                                                     \
    /* Checked mode (docs/checks.md). Neighbors compare the direction, reduction, fields and    \
     * depth of each call; if they differ, both raise an error that names both calls, instead   \
     * of a deadlock. Ghosts hold signaling NaNs, or bytes of 0xdb, while an exchange fills     \
     * them. If the program writes cells that it must not write between begin and end, end      \
     * raises an error with the field, the cell and both values. The default time limit is 30   \
     * s. Costs messages in each call, copies of the sent values, and memory; nothing if off.   \
     * False: the environment variable PARHELION_CHECK (1: yes), else no. */                    \
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
