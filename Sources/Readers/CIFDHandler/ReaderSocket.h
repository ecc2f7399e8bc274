// SPDX-License-Identifier: Apache-2.0
// Connects to a reader's socket, and transfers bytes over it. These functions keep no state.
#ifndef OPENCORENFC_READER_SOCKET_H
#define OPENCORENFC_READER_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// The clock of all deadlines, in milliseconds.
long long monotonicMilliseconds(void);

#define NO_DEADLINE (-1LL)

// Connects to the reader's socket at a path, if the socket is trusted.
//
// pcscd often runs as root, so a path in its configuration must not lead to anything else. These rules apply: only its
// owner may write to the folder; the file is a socket and not a link; and the socket and the listening program belong
// to a trusted user: the folder's owner, root, or this process's user.
//
// Returns a non-blocking descriptor, or -1.
int readerSocketConnect(const char *path);

// Waits until `socket` is ready for `events`, `wakeUp` is closed, or the deadline has passed.
//
// Returns 1 if the socket is ready, 0 after the deadline, -1 if `wakeUp` is closed. `socket` may be -1.
int readerSocketWait(int wakeUp, int socket, short events, long long deadline);

// Sends or receives exactly `length` bytes. Returns false after the deadline, or if a socket or `wakeUp` closes.
bool readerSocketSend(int wakeUp, int socket, const uint8_t *bytes, size_t length, long long deadline);
bool readerSocketReceive(int wakeUp, int socket, uint8_t *bytes, size_t length, long long deadline);

#pragma GCC visibility pop

#endif
