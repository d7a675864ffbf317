/* Sleeping until a neighbor posts (src/transport/node/signals.cpp, src/exchange/waiter.hpp), between two ranks.
 *
 * In each round a rank posts its number to the other and waits for the other's. The 20 ms after which a sleeper looks up
 * anyway are left out: whoever sleeps here is only woken by a ring, and a lost one is an invalid end state.
 *
 * Memory: a posted number, and a sleeper's count, are late (invisible to the other rank) until the memory process lands them,
 * in any order. A sequentially consistent fence waits until nothing of its rank is late. That is weaker than x86, where the
 * count's read-modify-write is a fence by itself, and as weak as the C++ memory model, in which it is none.
 *
 * Faults to plant: NO_POSTER_FENCE, NO_SLEEPER_FENCE, NO_REPOLL no look at the number between announcing and sleeping,
 * DOORBELL_LATE the doorbell is read after that look.
 */
#ifndef ROUNDS
#define ROUNDS 3
#endif

typedef Mailbox {
    byte number, late_number;      /* posted by the other rank */
    byte doorbell;                 /* the futex */
    bool counted, late_counted;    /* the own sleeper, as the other rank sees it and will see it */
    bool asleep;
}
Mailbox box[2];

inline post(n) {
    box[1 - r].late_number = n;
#ifndef NO_POSTER_FENCE
    box[1 - r].number == n;
#endif
    if
    :: box[1 - r].counted ->
        box[1 - r].doorbell++;
        box[1 - r].asleep = false
    :: else
    fi
}

inline announce() {
#ifndef DOORBELL_LATE
    before = box[r].doorbell;
#endif
    box[r].late_counted = true;
#ifndef NO_SLEEPER_FENCE
    box[r].counted;
#endif
}

inline sleep() {
#ifdef DOORBELL_LATE
    before = box[r].doorbell;
#endif
    atomic {  /* futex(FUTEX_WAIT): compares and goes to sleep in one step */
        if
        :: box[r].doorbell == before -> box[r].asleep = true
        :: else
        fi
    }
    !box[r].asleep;
    atomic { box[r].late_counted = false; box[r].counted = false }
}

inline wait_for(n) {
    do
    :: box[r].number >= n -> break
    :: box[r].number < n ->
        announce();
#ifndef NO_REPOLL
        if
        :: box[r].number >= n -> atomic { box[r].late_counted = false; box[r].counted = false }; break
        :: else
        fi;
#endif
        sleep()
    od
}

proctype Rank(byte r) {
    byte n, before;
    for (n : 1 .. ROUNDS) {
        post(n);
        wait_for(n)
    }
}

proctype Memory() {
    byte r;
end:
    do
    :: box[0].late_number != box[0].number -> box[0].number = box[0].late_number
    :: box[1].late_number != box[1].number -> box[1].number = box[1].late_number
    :: box[0].late_counted && !box[0].counted -> atomic { box[0].counted = box[0].late_counted }
    :: box[1].late_counted && !box[1].counted -> atomic { box[1].counted = box[1].late_counted }
    od
}

init {
    atomic {
        run Memory();
        run Rank(0);
        run Rank(1)
    }
}
