// SPDX-License-Identifier: Apache-2.0
// The connection to a reader's socket, and messages over it. These functions keep no state.
#ifndef OPENCORENFC_READER_SOCKET_H
#define OPENCORENFC_READER_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// The clock of all deadlines, in milliseconds.
long long monotonicMilliseconds(void);

#define NO_DEADLINE (-1LL)

// Connects to the reader's socket at a path, if it is trusted.
//
// pcscd often runs as root, so a path in its configuration must not lead it to anything else. These rules apply: only
// its owner may write to the folder; the file is a socket and not a link; and the socket and the listening program
// belong to a trusted user: the folder's owner, root, or this process's user.
//
// Returns a non-blocking descriptor, or -1.
int readerSocketConnect(const char *path);

// Waits until a descriptor is ready for `events`, `wakeUp` is closed, or the deadline has passed.
//
// Returns 1 when it is ready, 0 after the deadline, -1 when it was woken up. `socket` may be -1.
int readerSocketWait(int wakeUp, int socket, short events, long long deadline);

// Sends or reads exactly `length` bytes, unless the deadline passes or it is woken up.
bool readerSocketSend(int wakeUp, int socket, const uint8_t *bytes, size_t length, long long deadline);
bool readerSocketReceive(int wakeUp, int socket, uint8_t *bytes, size_t length, long long deadline);

#pragma GCC visibility pop

#endif
