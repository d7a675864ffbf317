/* The grant/put/written protocol of transport shared (src/transport/shared.cpp) between two ranks.
 *
 * Each rank owns a value and has ghosts of the other's. In every exchange the owner's value is the exchange's number, so a
 * ghost that holds anything else between end and the next begin is wrong. Rank 0 has a second thread that advances its work.
 * With EXCHANGES 2, both are begun in one order and ended in opposite orders on the two ranks.
 *
 * Memory: a store into a ghost is late (invisible) until the memory process lands it, in any order; a release waits for all
 * late stores of its rank. Waits are guards, so that a wait that nobody ends is an invalid end state.
 *
 * Faults to plant: NO_GRANT the owner writes without leave; RELAXED the number overtakes the values; NO_CLAIM two threads may
 * write the same exchange; NO_BACKGROUND a rank that waits in one exchange does not work for the other.
 */
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifndef EXCHANGES
#define EXCHANGES 1
#endif
#define WORDS 2
#define S(r, e) side[(r) * EXCHANGES + (e)]

typedef Side {
    byte owned;          /* this rank's value */
    byte ghost[WORDS];   /* its copies of the other's value */
    byte late[WORDS];    /* stores to them that are not visible yet; 0: none */
    byte granted;        /* written by the other: its ghosts may be written for this exchange */
    byte written;        /* written by the other: it has written this rank's ghosts */
    byte number;         /* exchange under way */
    byte claimed, done;  /* of the own writing */
}
Side side[2 * EXCHANGES];

#ifdef NO_GRANT
#define leave(r, e, n) true
#else
#define leave(r, e, n) (S(r, e).granted >= n)
#endif
#define work(r, e) (S(r, e).claimed < S(r, e).number && leave(r, e, S(r, e).number))

inline put(r, e, n) {
    k = 0;
    do
    :: k < WORDS -> S(1 - r, e).late[k] = S(r, e).owned; k++
    :: else -> break
    od;
#ifndef RELAXED
    S(1 - r, e).late[0] == 0 && S(1 - r, e).late[1] == 0;  /* release */
#endif
    S(1 - r, e).written = n;
    S(r, e).done = n
}

inline advance(r, e) {
    n = S(r, e).number;
    if
    :: S(r, e).claimed >= n || !leave(r, e, n) -> skip
    :: else ->
#ifdef NO_CLAIM
        put(r, e, n);
        S(r, e).claimed = (S(r, e).claimed < n -> n : S(r, e).claimed)
#else
        atomic {
            mine = (S(r, e).claimed == n - 1);
            if
            :: mine -> S(r, e).claimed = n
            :: else
            fi
        }
        if
        :: mine -> put(r, e, n)
        :: else
        fi
#endif
    fi
}

inline user_reads(r, e, expected) {
    k = 0;
    do
    :: k < WORDS -> assert(S(r, e).ghost[k] == expected); k++
    :: else -> break
    od
}

proctype Rank(byte r) {
    byte round, e, rest, i, n, k;
    bool mine;
    for (round : 1 .. ROUNDS) {
        for (e : 0 .. EXCHANGES - 1) {
            S(r, e).owned = round;
            S(1 - r, e).granted = round;  /* begin */
            S(r, e).number = round;
            if
            :: advance(r, e)
            :: skip
            fi
        }
        for (i : 0 .. EXCHANGES - 1) {
            e = (r == 0 -> i : EXCHANGES - 1 - i);
            rest = EXCHANGES - 1 - e;
            do  /* end */
            :: S(r, e).written >= round && S(r, e).done >= round -> break
            :: work(r, e) -> advance(r, e)
#if EXCHANGES == 2 && !defined(NO_BACKGROUND)
            :: work(r, rest) -> advance(r, rest)
#endif
            od;
            user_reads(r, e, round)
        }
        for (e : 0 .. EXCHANGES - 1) {
            user_reads(r, e, round)
        }
    }
}

/* The other thread of rank 0. */
proctype Helper() {
    byte e, n, k;
    bool mine;
end:
    do
    :: work(0, 0) -> e = 0; advance(0, e)
#if EXCHANGES == 2
    :: work(0, 1) -> e = 1; advance(0, e)
#endif
    od
}

#define lands(i, k) side[i].late[k] != 0 -> atomic { side[i].ghost[k] = side[i].late[k]; side[i].late[k] = 0 }

proctype Memory() {
end:
    do
    :: lands(0, 0)
    :: lands(0, 1)
    :: lands(1, 0)
    :: lands(1, 1)
#if EXCHANGES == 2
    :: lands(2, 0)
    :: lands(2, 1)
    :: lands(3, 0)
    :: lands(3, 1)
#endif
    od
}

init {
    atomic {
        run Memory();
#ifdef HELPER
        run Helper();
#endif
        run Rank(0);
        run Rank(1)
    }
}
