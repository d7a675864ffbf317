/* The grant/claim/withdraw protocol of reverse exchanges over transport shared (src/transport/shared_reverse.cpp) between two ranks.
 *
 * Each rank has ghosts whose values, in every exchange its number, the other combines. A rank that is done with an exchange writes
 * something else into its ghosts. With AWAY, rank 0 combines only after rank 1 has ended. With ONE_WAY, only rank 0 has ghosts.
 * With UNMAPPED, all messages are left at the beginning.
 *
 * Memory: as in shared.pml. Faults to plant: NO_CLAIM the owner reads without having changed the word; RELAXED the word overtakes the
 * values; NOTE_LATE a grant is withdrawn before the message is there; NO_LEAVE nobody leaves a message; SLOTS too few places for them.
 */
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifdef ONE_WAY
#define HOLDS(r) ((r) == 0)
#ifndef SLOTS
#define SLOTS 4
#endif
#define room(n) ((n) <= 4 || side[0].done + 5 > (n))
#else
#define HOLDS(r) true
#ifndef SLOTS
#define SLOTS 2
#endif
#define room(n) true
#endif
#ifdef AWAY
#define comes(r, n) (r == 1 || side[1].ended >= n)
#else
#define comes(r, n) true
#endif
#define WORDS 2
#define granted(n) (4 * (n))
#define claimed(n) (4 * (n) + 1)
#define withdrawn(n) (4 * (n) + 2)

typedef Side {
    byte ghost[WORDS];
    byte late[WORDS];    /* stores that are not visible yet; 0: none */
    byte left[4];        /* messages */
    byte late_left[4];
    byte note[4];        /* which exchanges they are of */
    byte word;           /* of the grant */
    byte done;           /* written by the other: it has what it needs of this exchange */
    byte ended;
}
Side side[2];

inline release(r) {
#ifndef RELAXED
    side[r].late[0] == 0 && side[r].late[1] == 0 && side[r].late_left[0] == 0 && side[r].late_left[1] == 0 &&
        side[r].late_left[2] == 0 && side[r].late_left[3] == 0
#else
    skip
#endif
}

inline withdraw(r, n) {
    atomic {
        if
        :: side[r].word == granted(n) -> side[r].word = withdrawn(n); put = true
        :: else
        fi
    }
}

inline leave(r, n) {
#ifdef NOTE_LATE
    withdraw(r, n);
#endif
    side[r].late_left[n % SLOTS] = n;
    release(r);
    side[r].note[n % SLOTS] = n;
#ifndef NOTE_LATE
    withdraw(r, n);
#endif
    tried = true
}

inline combine(r, n) {
    atomic {
        mine = side[1 - r].word == granted(n);
#ifndef NO_CLAIM
        if
        :: mine -> side[1 - r].word = claimed(n)
        :: else
        fi
#endif
    }
    if
    :: mine ->
        assert(side[1 - r].ghost[0] == n);
        assert(side[1 - r].ghost[1] == n)
    :: else ->
        assert(side[1 - r].note[n % SLOTS] == n);
        assert(side[1 - r].left[n % SLOTS] == n)
    fi;
    side[1 - r].done = n;
    combined = true
}

proctype Rank(byte r) {
    byte n;
    bool mine, put, tried, combined;
    for (n : 1 .. ROUNDS) {
        put = !HOLDS(r); tried = !HOLDS(r); combined = !HOLDS(1 - r);
        if
        :: HOLDS(r) ->
            side[r].late[0] = n;
            side[r].late[1] = n;
            release(r);
#ifdef UNMAPPED
            side[r].late_left[n % SLOTS] = n;
            release(r);
            side[r].note[n % SLOTS] = n;
            side[r].word = withdrawn(n);
            put = true
#else
            side[r].word = granted(n)
#endif
        :: else
        fi;
        do
        :: !combined && side[1 - r].word >= granted(n) && comes(r, n) -> combine(r, n)
        :: !put && side[r].done >= n -> put = true
#ifndef NO_LEAVE
        :: combined && !put && !tried -> leave(r, n)
#endif
        :: combined && put && (!HOLDS(r) || room(n + 1)) -> break
        od;
        side[r].ended = n;
        if
        :: HOLDS(r) -> side[r].late[0] = 100; release(r)
        :: else
        fi
    }
}

#define lands(late, there) atomic { late != 0 -> there = late; late = 0 }
#define message_lands(r, i) lands(side[r].late_left[i], side[r].left[i])
proctype Memory() {
end:
    do
    :: lands(side[0].late[0], side[0].ghost[0])
    :: lands(side[0].late[1], side[0].ghost[1])
    :: lands(side[1].late[0], side[1].ghost[0])
    :: lands(side[1].late[1], side[1].ghost[1])
    :: message_lands(0, 0)
    :: message_lands(0, 1)
    :: message_lands(0, 2)
    :: message_lands(0, 3)
    :: message_lands(1, 0)
    :: message_lands(1, 1)
    od
}

init {
    atomic {
        run Rank(0);
        run Rank(1);
        run Memory()
    }
}
