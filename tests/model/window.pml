/* The window of transport staged_shared (src/transport/staged_shared.cpp): one sender, one reader.
 *
 * An exchange has PARTS parts. Each goes into the next of PLACES places where there is room, into its slot otherwise (or although
 * there is room: the sender may know an old count). Its number says where it lies. That a slot is free is the ring's business
 * (ring.pml): here the reader tells which exchange it has consumed.
 *
 * Faults to plant: NO_COUNT the sender looks for no room; EARLY_COUNT the reader gives a place back before it has read it; RELAXED
 * the number overtakes the values; ONE_COUNT_AHEAD the sender takes one place more than there is.
 */
#ifndef ROUNDS
#define ROUNDS 4
#endif
#define PARTS 3
#define PLACES 2
#define SLOTS 6  /* 2 * PARTS */

typedef Memory_of_part {
    byte value;
    byte late;  /* a store that is not visible yet; 0: none */
}
typedef Number {
    byte exchange;
    bool in_window;
}
Memory_of_part place[PLACES];
Memory_of_part slot[SLOTS];
Number number[SLOTS];
byte emptied, consumed;

#define here ((n % 2) * PARTS + i)
#define content (n * PARTS + i)
#ifdef NO_COUNT
#define has_room true
#else
#ifdef ONE_COUNT_AHEAD
#define has_room (filled - emptied <= PLACES)
#else
#define has_room (filled - emptied < PLACES)
#endif
#endif
#ifdef RELAXED
#define released(part) true
#else
#define released(part) (part.late == 0)
#endif

active proctype Sender() {
    byte n, i, filled;
    for (n : 1 .. ROUNDS) {
        consumed + 2 >= n;
        for (i : 0 .. PARTS - 1) {
            if
            :: has_room ->
                place[filled % PLACES].late = content;
                released(place[filled % PLACES]);
                atomic { number[here].exchange = n; number[here].in_window = true };
                filled++
            :: true ->
                slot[here].late = content;
                released(slot[here]);
                atomic { number[here].exchange = n; number[here].in_window = false }
            fi
        }
    }
}

active proctype Reader() {
    byte n, i;
    for (n : 1 .. ROUNDS) {
        for (i : 0 .. PARTS - 1) {
            number[here].exchange == n;
            if
            :: number[here].in_window ->
#ifdef EARLY_COUNT
                emptied++;
                assert(place[(emptied - 1) % PLACES].value == content)
#else
                assert(place[emptied % PLACES].value == content);
                emptied++
#endif
            :: else -> assert(slot[here].value == content)
            fi
        }
        consumed = n
    }
}

#define lands(part) part.late != 0 -> atomic { part.value = part.late; part.late = 0 }

active proctype Memory() {
end:
    do
    :: lands(place[0])
    :: lands(place[1])
    :: lands(slot[0])
    :: lands(slot[1])
    :: lands(slot[2])
    :: lands(slot[3])
    :: lands(slot[4])
    :: lands(slot[5])
    od
}
