// SPDX-License-Identifier: Apache-2.0
// The way to a reader's socket, and messages over it. Nothing here keeps a state.
#ifndef OPENCORENFC_READER_SOCKET_H
#define OPENCORENFC_READER_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#pragma GCC visibility push(hidden)

// The moment in so many milliseconds; the milliseconds until a moment, at least 0; the clock behind both, in milliseconds.
struct timespec deadlineAfter(int milliseconds);
int millisecondsUntil(const struct timespec *deadline);
long long monotonicMilliseconds(void);

// Connects to the reader's socket at a path, if it can be trusted.
//
// pcscd often runs as root, so a path in its configuration must not lead it anywhere else: the folder may be written by its owner
// alone; the socket is no link, is a socket, and belongs to the folder's owner, to root or to this process's user; and so does
// the program that listens.
//
// Returns a descriptor that never blocks, or -1.
int readerSocketConnect(const char *path);

// Waits until a descriptor is ready for `events`, or until `wakeUp` is closed, or until the deadline (NULL: never).
//
// Returns 1 when it is ready, 0 when the time is over, -1 when it was woken up. `socket` may be -1.
int readerSocketWait(int wakeUp, int socket, short events, const struct timespec *deadline);

// Sends, or reads, exactly as many bytes, before the deadline (NULL: never) and unless woken up.
bool readerSocketSend(int wakeUp, int socket, const uint8_t *bytes, size_t length, const struct timespec *deadline);
bool readerSocketReceive(int wakeUp, int socket, uint8_t *bytes, size_t length, const struct timespec *deadline);

#pragma GCC visibility pop

#endif
