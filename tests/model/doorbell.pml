// SPDX-License-Identifier: Apache-2.0
// The handshake of src/transport/shm/doorbell.h: one delivers, the other polls, arms and sleeps.
//
// Each processor has a store buffer: its stores become visible to the other later, in order, while
// its own later loads may be done first. That is the reordering which the handshake has to stand.
// membarrier(2) is a moment at which both buffers are empty: a full barrier on both processors.
//
// Checked: the sleeper always learns of each delivery (otherwise it sleeps for ever, which is an
// invalid end state), whatever the timing.
// BROKEN=1: a barrier on the sleeper's own processor only. BROKEN=2: the ticket is drawn after the
// poll.

#ifndef BROKEN
#define BROKEN 0
#endif
#define deliveries 3

byte delivered = 0;  // the word that the sleeper polls
bool asleep = false;
byte wake = 0;       // the futex

chan of_waker = [2] of { byte };    // stores to `delivered` on their way
chan of_sleeper = [2] of { bool };  // stores to `asleep` on their way

active proctype memory() {
  byte number;
  bool armed;
end:
  do
  :: atomic { of_waker ? number -> delivered = number }
  :: atomic { of_sleeper ? armed -> asleep = armed }
  od
}

active proctype waker() {
  byte number = 0;
  do
  :: number == deliveries -> break
  :: else ->
    number++;
    of_waker ! number;
    if
    :: asleep ->
      // An atomic read-modify-write: what was stored before is visible first.
      atomic { empty(of_waker) -> wake++ }
    :: else
    fi
  od
}

active proctype sleeper() {
  byte seen = 0;
  byte ticket;
  do
  :: seen == deliveries -> break
  :: delivered > seen -> seen++  // found without sleeping
  :: else ->
    of_sleeper ! true;  // arm
#if BROKEN == 1
    empty(of_sleeper);
#else
    atomic { empty(of_sleeper) && empty(of_waker) };
#endif
    do
    :: true ->
#if BROKEN == 2
      if
      :: delivered > seen -> break
      :: else
      fi;
      ticket = wake;
#else
      ticket = wake;
      if
      :: delivered > seen -> break
      :: else
      fi;
#endif
      (wake != ticket)  // FUTEX_WAIT: at once, or when somebody rings
    od;
    of_sleeper ! false;  // disarm
    seen++
  od
}
