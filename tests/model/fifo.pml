// SPDX-License-Identifier: Apache-2.0
// The slot FIFO with credits of src/transport/shm/connection.cpp: one direction of one channel.
//
// Stores of a rank into the other's memory become visible later, in order (that is what release
// stores and x86 give): they travel through a queue. Numbers wrap at `wrap`, as they do at 2^32.
//
// Checked: the receiver reads exactly the bytes that were put, in order; the sender never writes a
// slot that is not released; nobody gets stuck.
// BROKEN=1: the flag is stored before the bytes. BROKEN=2: the credit is given before the last read.

#ifndef BROKEN
#define BROKEN 0
#endif
#define slots 2
#define messages 7
#define wrap 4

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
  byte sent = 0;
  do
  :: sent == messages -> break
  :: else ->
    (sent - credit < slots);  // slot_to_fill
#if BROKEN == 1
    to_receiver ! store_flag(sent % slots, (sent + 1) % wrap);
    to_receiver ! store_bytes(sent % slots, sent + 1);
#else
    to_receiver ! store_bytes(sent % slots, sent + 1);
    to_receiver ! store_flag(sent % slots, (sent + 1) % wrap);
#endif
    sent++
  od
}

active proctype receiver() {
  byte taken = 0;
  do
  :: taken == messages -> break
  :: else ->
    (flag[taken % slots] == (taken + 1) % wrap);  // arrived
#if BROKEN == 2
    to_sender ! store_credit(0, taken + 1);
#endif
    reading = taken % slots + 1;
    assert(bytes[taken % slots] == taken + 1);
    assert(bytes[taken % slots] == taken + 1);
    reading = 0;
#if BROKEN != 2
    to_sender ! store_credit(0, taken + 1);
#endif
    taken++
  od
}
