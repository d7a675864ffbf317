/* Options of exchanges and of objects with exchanges, in all languages. A new one needs a row here
 * and an argument of Python's Exchange. */
#ifndef PARHELION_OPTIONS_H
#define PARHELION_OPTIONS_H

/* X(kind, name). Empty, 0 and false: the library or an environment variable chooses. Equal on all
 * ranks, except timeout_s, threads and progress_thread. */
#define PHL_EXCHANGE_OPTIONS(X) \
  /* "auto", a transport, or a hybrid "NEAR+FAR": NEAR for neighbors on the same node, FAR \
   * for others. "by_dimension:NAME" and "far_by_dimension:NAME" go dimension by dimension. \
   * Empty: PARHELION_TRANSPORT, else "auto". */ \
  X(TEXT, transport) \
  /* Seconds without any arrival after which a wait throws an error that names the silent \
   * ranks. 0: PARHELION_TIMEOUT, else no limit. */ \
  X(SECONDS, timeout_s) \
  /* Threads of this rank that share its large copies, including the caller; bind the rank to \
   * as many cores. 0: PARHELION_THREADS, else 1. */ \
  X(COUNT, threads) \
  /* Whether a library thread progresses the exchange between begin and end, for transports \
   * that progress only when polled. It takes core time; if MPI moves the data, it needs \
   * MPI_THREAD_MULTIPLE, else it does nothing. False: only if PARHELION_PROGRESS is 1. */ \
  X(FLAG, progress_thread) \
  /* Whether the program computes between begin and end; "auto" then benchmarks that use and \
   * counts only the time in begin and end. False: only if PARHELION_OVERLAP is 1. */ \
  X(FLAG, overlap) \
  /* A promise: all ranks make only whole calls (begin is refused) and none waits for another \
   * rank's call to return before its own. "auto" then also tries by-dimension forwarding of \
   * edges and corners and per-node aggregation (docs/transports.md, "Dimension by \
   * dimension", "Node by node"), which a rank that computes after begin would delay. */ \
  X(FLAG, at_once) \
  /* Approximate work between begin and end, or before each call, 0 to 1 s; "auto" spins as \
   * long between trials, because ranks then arrive at different times, which slows some \
   * transports. 0: with overlap the time of an exchange, at most 200 µs; else none. */ \
  X(SECONDS, work_s) \
  /* Whether a reverse exchange combines only in end, so that owned cells may be read and \
   * written until then. False: it may combine arrivals from begin on. */ \
  X(FLAG, combine_in_end) \
  /* Checked mode (docs/checks.md). Neighbors compare direction, reduction, fields and depth \
   * of each call; if they differ, both raise an error that names both calls, instead of a \
   * deadlock. Ghosts hold signaling NaNs, or bytes of 0xdb, while an exchange fills them. A \
   * forbidden write between begin and end is an error in end, with field, cell and both \
   * values. The default time limit is 30 s. Costs messages, copies of the sent values, and \
   * memory; nothing if off. False: only if PARHELION_CHECK is 1. */ \
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
