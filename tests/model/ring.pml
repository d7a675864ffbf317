/* The ring of transport staged_shared (src/transport/staged_shared.cpp) between two ranks.
 *
 * Exchange n writes n into every word of slot n mod DEPTH at the reader, then n as the slot's number. Both ranks send, and
 * nothing is acknowledged; or (ONE_WAY) only rank 0 sends, rank 1 tells what it has consumed, and rank 0 ends an exchange when
 * all but the last two have been. After the last one, each rank uses its memory for something else: rank 1 at once, rank 0 when rank 1
 * has told, in rank 0's memory, that it has consumed all.
 *
 * Faults to plant: DEPTH 1 the next message overwrites one that is being read; NO_ACK a one-way sender waits for nobody;
 * EARLY_ACK the reader acknowledges before it has read; RELAXED the number overtakes the values; ACK_AT_READER it is told in rank 1's
 * memory; GONE_EARLY rank 0 uses its memory at once.
 */
#ifndef ROUNDS
#define ROUNDS 5
#endif
#ifndef DEPTH
#ifdef ONE_WAY
#define DEPTH 3
#else
#define DEPTH 2
#endif
#endif
#define WORDS 2

typedef Slot {
    byte number;
    byte word[WORDS];
    byte late[WORDS];  /* stores to the words that are not visible yet; 0: none */
}
typedef Reader {
    Slot slot[DEPTH];  /* messages to this rank */
    byte consumed;     /* told by this rank */
    bool gone;         /* its memory is used for something else */
}
Reader reader[2];

#define incoming reader[r].slot[n % DEPTH]
#define outgoing reader[1 - r].slot[n % DEPTH]
#ifdef ONE_WAY
#define sends (r == 0)
#define receives (r == 1)
#else
#define sends true
#define receives true
#endif

#ifdef ACK_AT_READER
#define consumed_by_other (reader[1 - r].gone -> 0 : reader[1 - r].consumed)
#else
#define consumed_by_other (reader[1 - r].consumed)
#endif

inline send() {
    k = 0;
    do
    :: k < WORDS -> outgoing.late[k] = n; k++
    :: else -> break
    od;
#ifndef RELAXED
    outgoing.late[0] == 0 && outgoing.late[1] == 0;  /* release */
#endif
    outgoing.number = n
}

inline acknowledge() {
#if defined(ONE_WAY) && !defined(ACK_AT_READER)
    assert(!reader[1 - r].gone);
#endif
    reader[r].consumed = n
}

inline receive() {
    incoming.number == n;
#ifdef EARLY_ACK
    acknowledge();
#endif
    k = 0;
    do
    :: k < WORDS -> assert(incoming.word[k] == n); k++
    :: else -> break
    od;
    acknowledge()
}

proctype Rank(byte r) {
    byte n, k;
    for (n : 1 .. ROUNDS) {
        if
        :: sends -> send()
        :: else
        fi;
        if
        :: receives -> receive()
        :: else -> skip;
#if defined(ONE_WAY) && !defined(NO_ACK)
            consumed_by_other + 2 >= n
#endif
        fi
    }
#ifdef ONE_WAY
#ifndef GONE_EARLY
    r == 1 || consumed_by_other >= ROUNDS;
#endif
    reader[r].gone = true
#endif
}

#define from reader[r].slot[i]
#define lands(k) from.late[k] != 0 -> atomic { from.word[k] = from.late[k]; from.late[k] = 0 }

/* One for every slot: stores to different slots land in any order. */
proctype Memory(byte r; byte i) {
end:
    do
    :: lands(0)
    :: lands(1)
    od
}

init {
    atomic {
        run Memory(0, 0);
        run Memory(1, 0);
#if DEPTH > 1
        run Memory(0, 1);
        run Memory(1, 1);
#endif
#if DEPTH > 2
        run Memory(0, 2);
        run Memory(1, 2);
#endif
        run Rank(0);
        run Rank(1)
    }
}
