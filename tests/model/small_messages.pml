// SPDX-License-Identifier: Apache-2.0
// The rule of two small messages of src/transport/connection.h: no credits, but both sides send one
// and take one in every operation. Line by line, as put_inline stores them.
//
// Checked: whoever takes message m gets the bytes of message m, each line whole; nothing that was
// not taken is overwritten; nobody gets stuck.
// BROKEN=1: a single set. BROKEN=2: a rank sends two before it takes one (asymmetric use).

#ifndef BROKEN
#define BROKEN 0
#endif
#if BROKEN == 1
#define sets 1
#else
#define sets 2
#endif
#define lines 2
#define operations 5

typedef Inbox {
  byte payload[4];  // [set * lines + line]
  byte flag[4]
};
Inbox inbox[2];     // of each rank, written by the other
byte taken[2];      // messages that each rank has taken

mtype = { store_payload, store_flag };
chan to[2] = [8] of { mtype, byte, byte };  // stores on their way into the inbox of a rank

active [2] proctype memory() {
  byte at, value;
  byte owner = _pid;
end:
  do
  :: atomic { to[owner] ? store_payload(at, value) ->
       // What is overwritten must have been taken.
       assert(inbox[owner].payload[at] <= taken[owner]);
       inbox[owner].payload[at] = value }
  :: atomic { to[owner] ? store_flag(at, value) -> inbox[owner].flag[at] = value }
  od
}

inline put(me, number) {
  line = 0;
  do
  :: line == lines -> break
  :: else ->
    to[1 - me] ! store_payload((number - 1) % sets * lines + line, number);
    to[1 - me] ! store_flag((number - 1) % sets * lines + line, number);
    line++
  od
}

inline take(me, number) {
  line = 0;
  do
  :: line == lines -> break
  :: else ->
    (inbox[me].flag[(number - 1) % sets * lines + line] == number);
    assert(inbox[me].payload[(number - 1) % sets * lines + line] == number);
    line++
  od;
  taken[me] = number
}

active [2] proctype rank() {
  byte me = _pid - 2;
  byte number = 1;
  byte line;
#if BROKEN == 2
  put(me, 1);
#endif
  do
  :: number > operations -> break
  :: else ->
#if BROKEN == 2
    if
    :: number < operations -> put(me, number + 1)
    :: else
    fi;
#else
    put(me, number);
#endif
    take(me, number);
    number++
  od
}
