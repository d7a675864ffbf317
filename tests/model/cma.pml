/* Offers of transport cma (src/transport/cma.cpp) between two ranks: messages that lie in an array, which belongs to the program again
 * when the exchange ends.
 *
 * In exchange n a rank's array holds n, until the rank has ended the exchange and changes it. The sender offers the array; at the end it
 * takes back what was not read, copies it into slot n mod DEPTH and offers that. The reader claims what lies in an array before it
 * reads it. Both ranks send; or (ONE_WAY) only rank 0 does, and ends an exchange when all but the last two messages have been read.
 * With AWAY, rank 1 begins an exchange only after rank 0 has ended it.
 *
 * Faults to plant: NO_CLAIM the reader reads an array without claiming it; KEEPS_OFFER the sender does not take back what it copies;
 * IGNORES_CLAIM it takes back what is being read; WAITS_FOR_READER it takes nothing back; DEPTH too few slots; OLD_PLACE the
 * place is written after the offer.
 */
#ifndef ROUNDS
#define ROUNDS 4
#endif
#ifndef DEPTH
#ifdef ONE_WAY
#define DEPTH 3
#else
#define DEPTH 2
#endif
#endif
#ifdef ONE_WAY
#define sends (r == 0)
#define receives (r == 1)
#else
#define sends true
#define receives true
#endif

#define IN_ARRAY 0
#define CLAIMED 1
#define WITHDRAWN 2
#define IN_SLOT 3
#define offer_of(n, state) (4 * (n) + state)

typedef Sender {
    byte array;
    byte slot[DEPTH];
    byte offer[DEPTH];
    bool at_slot[DEPTH];  /* where the message lies */
    byte taken;           /* written by the reader */
    byte ended;
}
Sender sender[2];

#define mine sender[r].offer[n % DEPTH]
#define theirs sender[1 - r].offer[n % DEPTH]
#define all_read (sender[r].taken >= n)
#ifdef IGNORES_CLAIM
#define may_take_back (mine == offer_of(n, IN_ARRAY) || mine == offer_of(n, CLAIMED))
#else
#define may_take_back (mine == offer_of(n, IN_ARRAY))
#endif

inline offer_array() {
    sender[r].array = n;
#ifdef OLD_PLACE
    mine = offer_of(n, IN_ARRAY);
    sender[r].at_slot[n % DEPTH] = false
#else
    sender[r].at_slot[n % DEPTH] = false;
    mine = offer_of(n, IN_ARRAY)
#endif
}

/* As taken_back: a compare-and-swap, the copy, the second offer. */
inline end_send() {
    do
    :: all_read -> break
    :: mine == offer_of(n, IN_SLOT) -> break
#ifndef WAITS_FOR_READER
    :: atomic {
        may_take_back ->
#ifndef KEEPS_OFFER
        mine = offer_of(n, WITHDRAWN)
#endif
       }
       sender[r].slot[n % DEPTH] = sender[r].array;
#ifdef KEEPS_OFFER
       break
#else
       sender[r].at_slot[n % DEPTH] = true;
       mine = offer_of(n, IN_SLOT)
#endif
#endif
    od;
#ifdef ONE_WAY
    sender[r].taken + 2 >= n;
#endif
    sender[r].ended = n;
    sender[r].array = 0  /* the program's again */
}

/* As read: look at the offer, then at the place, then claim. */
inline receive() {
    got = false;
    do
    :: got -> break
    :: else ->
        atomic {
            (theirs == offer_of(n, IN_ARRAY) || theirs == offer_of(n, IN_SLOT));
            from_array = (theirs == offer_of(n, IN_ARRAY))
        }
        in_slot = sender[1 - r].at_slot[n % DEPTH];
        claimed = true;
#ifndef NO_CLAIM
        atomic {
            if
            :: from_array && theirs == offer_of(n, IN_ARRAY) -> theirs = offer_of(n, CLAIMED)
            :: from_array && theirs != offer_of(n, IN_ARRAY) -> claimed = false
            :: else
            fi
        }
#endif
        if
        :: claimed ->
            value = (in_slot -> sender[1 - r].slot[n % DEPTH] : sender[1 - r].array);
            assert(value == n);
#ifndef NO_CLAIM
            if
            :: from_array -> theirs = offer_of(n, WITHDRAWN)
            :: else
            fi;
#endif
            sender[1 - r].taken = n;
            got = true
        :: else
        fi
    od
}

proctype Rank(byte r) {
    byte n, value;
    bool got, from_array, in_slot, claimed;
    for (n : 1 .. ROUNDS) {
#ifdef AWAY
        r == 0 || sender[0].ended >= n;
#endif
        if
        :: sends -> offer_array()
        :: else
        fi;
        if
        :: receives -> receive()
        :: else
        fi;
        if
        :: sends -> end_send()
        :: else
        fi
    }
}

init {
    atomic {
        run Rank(0);
        run Rank(1)
    }
}
