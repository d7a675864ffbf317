/* The grant/put/written protocol of transport shared (src/transport/shared.cpp) between two ranks, and the messages that a rank
 * leaves before it goes away (DeferredBox).
 *
 * Each rank owns a value and has ghosts of the other's. In every exchange the owner's value is the exchange's number, so a
 * ghost that holds anything else between end and the next begin is wrong. The ghosts lie elsewhere in every exchange, and the grant says
 * where: exchange n's at place n. Rank 0 has a second thread that advances its work.
 * With EXCHANGES 2, both are begun in one order and ended in opposite orders on the two ranks. With AWAY, rank 0 ends an exchange
 * only after rank 1 has: it must leave its values when it has begun.
 *
 * Memory: a store into a ghost is late (invisible) until the memory process lands it, in any order; a release waits for all
 * late stores of its rank. Waits are guards, so that a wait that nobody ends is an invalid end state.
 *
 * Faults to plant: NO_GRANT the owner writes without leave; RELAXED the number overtakes the values; NO_HOLD two threads may
 * write the same exchange; NO_BACKGROUND a rank that waits in one exchange does not work for the other; NO_LEAVE a rank goes away
 * without leaving what was not granted; LATE_PLACE the grant comes before it says where; ONE_SLOT there is one place for messages; ONE_NOTE only the last one left is noted.
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
    byte place;          /* written by the other: where they are */
    byte written;        /* written by the other: it has written this rank's ghosts */
    byte number;         /* exchange under way */
    byte done;           /* of the own writing */
    bool busy;           /* a thread of this rank is at it */
    byte left[2];        /* messages that the other has left */
    byte late_left[2];
    byte note[2];        /* written by the other: which exchanges it has left */
    byte ended;
}
Side side[2 * EXCHANGES];

#ifdef NO_GRANT
#define leave(r, e, n) true
#else
#define leave(r, e, n) (S(r, e).granted >= n)
#endif
#define work(r, e) (!S(r, e).busy && S(r, e).done < S(r, e).number && leave(r, e, S(r, e).number))
#ifdef ONE_SLOT
#define slot(n) 0
#else
#define slot(n) ((n) % 2)
#endif
#ifdef ONE_NOTE
#define note_of(n) 0
#else
#define note_of(n) ((n) % 2)
#endif

inline put(r, e, n) {
    assert(S(r, e).place == n);
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
#ifdef NO_HOLD
    n = S(r, e).number;
    if
    :: S(r, e).done < n && leave(r, e, n) -> put(r, e, n)
    :: else
    fi
#else
    atomic {
        mine = !S(r, e).busy;
        if
        :: mine -> S(r, e).busy = true
        :: else
        fi
    }
    if
    :: mine ->
        n = S(r, e).number;
        if
        :: S(r, e).done < n && leave(r, e, n) -> put(r, e, n)
        :: else
        fi;
        S(r, e).busy = false
    :: else
    fi
#endif
}

/* As put, into a place of the other's. */
inline go_away(r, e) {
    atomic { !S(r, e).busy -> S(r, e).busy = true };
    n = S(r, e).number;
    if
    :: S(r, e).done < n ->
        S(1 - r, e).late_left[slot(n)] = S(r, e).owned;
#ifndef RELAXED
        S(1 - r, e).late_left[0] == 0 && S(1 - r, e).late_left[1] == 0;
#endif
        S(1 - r, e).note[note_of(n)] = n;
        S(1 - r, e).written = n;
        S(r, e).done = n
    :: else
    fi;
    S(r, e).busy = false
}

inline take_left(r, e, n) {
    if
    :: S(r, e).note[note_of(n)] == n ->
        k = 0;
        do
        :: k < WORDS -> S(r, e).ghost[k] = S(r, e).left[slot(n)]; k++
        :: else -> break
        od
    :: else
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
#ifndef LATE_PLACE
            S(1 - r, e).place = round;
#endif
            S(1 - r, e).granted = round;  /* begin */
#ifdef LATE_PLACE
            S(1 - r, e).place = round;
#endif
            S(r, e).number = round;
            if
            :: advance(r, e)
            :: skip
            fi;
#ifndef NO_LEAVE
            if
            :: go_away(r, e)
#ifdef AWAY
            :: r == 1 -> skip
#else
            :: skip
#endif
            fi
#endif
        }
#ifdef AWAY
        if
        :: r == 0 -> S(1, 0).ended >= round
        :: else
        fi;
#endif
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
            take_left(r, e, round);
            S(r, e).ended = round;
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
#define lands_left(i, k) side[i].late_left[k] != 0 -> atomic { side[i].left[k] = side[i].late_left[k]; side[i].late_left[k] = 0 }

proctype Memory() {
end:
    do
    :: lands_left(0, 0)
    :: lands_left(0, 1)
    :: lands_left(1, 0)
    :: lands_left(1, 1)
#if EXCHANGES == 2
    :: lands_left(2, 0)
    :: lands_left(2, 1)
    :: lands_left(3, 0)
    :: lands_left(3, 1)
#endif
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
