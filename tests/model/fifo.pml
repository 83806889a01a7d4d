// SPDX-License-Identifier: Apache-2.0
// The slot FIFO with credits of src/transport/shm/connection.cpp: one direction of one channel.
//
// Stores of a rank into the other's memory become visible later, in order (that is what release
// stores and x86 give): they travel through a queue. Numbers wrap at `wrap`, as they do at 2^32.
//
// After slot `few` - 1 the sender goes on with slot `few` or with slot 0, as it likes; the receiver looks
// at both.
//
// Checked: the receiver reads exactly the bytes that were put, in order; the sender never writes a
// slot that is not released; nobody gets stuck.
// BROKEN=1: the flag is stored before the bytes. BROKEN=2: the credit is given before the last read.
// BROKEN=3: the sender only counts messages, and does not ask which of them is in the slot.

#ifndef BROKEN
#define BROKEN 0
#endif
#define slots 3
#define few 2
#define messages 7
#define wrap 8

byte bytes[slots];
byte flag[slots];
byte credit = 0;  // as the sender sees it: messages that were released
byte reading = 0; // 1 + the slot that the receiver is reading

mtype = { store_bytes, store_flag, store_credit };
chan to_receiver = [4] of { mtype, byte, byte };
chan to_sender = [2] of { mtype, byte, byte };

// Makes stores visible, one at a time, at any later moment.
active proctype memory() {
  byte at, value;
end:
  do
  :: atomic { to_receiver ? store_bytes(at, value) ->
       assert(reading != at + 1);
       bytes[at] = value }
  :: atomic { to_receiver ? store_flag(at, value) -> flag[at] = value }
  :: atomic { to_sender ? store_credit(at, value) -> credit = value }
  od
}

active proctype sender() {
  byte sent = 0, next = 0, filling;
  byte filled[slots];  // the newest message in each slot
  do
  :: sent == messages -> break
  :: else ->
    if
    :: filling = next
    :: next == few -> filling = 0
    fi;
#if BROKEN == 3
    (sent - credit < slots);
#else
    (credit >= filled[filling]);  // slot_to_fill
#endif
#if BROKEN == 1
    to_receiver ! store_flag(filling, (sent + 1) % wrap);
    to_receiver ! store_bytes(filling, sent + 1);
#else
    to_receiver ! store_bytes(filling, sent + 1);
    to_receiver ! store_flag(filling, (sent + 1) % wrap);
#endif
    sent++;
    filled[filling] = sent;
    next = (filling + 1) % slots
  od
}

active proctype receiver() {
  byte taken = 0, next = 0, taking;
  do
  :: taken == messages -> break
  :: else ->
    if  // arrived
    :: flag[next] == (taken + 1) % wrap -> taking = next
    :: next == few && flag[0] == (taken + 1) % wrap -> taking = 0
    fi;
#if BROKEN == 2
    to_sender ! store_credit(0, taken + 1);
#endif
    reading = taking + 1;
    assert(bytes[taking] == taken + 1);
    assert(bytes[taking] == taken + 1);
    reading = 0;
#if BROKEN != 2
    to_sender ! store_credit(0, taken + 1);
#endif
    taken++;
    next = (taking + 1) % slots
  od
}
