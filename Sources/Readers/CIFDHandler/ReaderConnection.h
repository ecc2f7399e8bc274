// SPDX-License-Identifier: Apache-2.0
// A reader on the other end of a UNIX socket.
//
// A message consists of its kind (1 byte), a sequence number (1), a length (4, big-endian) and that many bytes. The
// reader sends the first greeting, so the driver never sends a byte to a program that is not a reader. Then the driver
// sends requests, and the reader answers with the same sequence number. At any time, the reader may report that a card
// arrived or left.
#ifndef OPENCORENFC_READER_CONNECTION_H
#define OPENCORENFC_READER_CONNECTION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "include/IFDHandler.h"

// In both directions: the protocol version.
enum { MESSAGE_HELLO = 'H' };
// To the reader. POWER: 0 down, 1 up, 2 reset. TRANSMIT: an APDU. CONTROL: a code and data. ATTRIBUTE: a tag.
enum { MESSAGE_POWER = 'P', MESSAGE_TRANSMIT = 'T', MESSAGE_CONTROL = 'C', MESSAGE_ATTRIBUTE = 'G' };
// From the reader. REPLY: a status and data. INSERTED, REMOVED: a card. BYE: the reader leaves and may return.
enum { MESSAGE_REPLY = 'R', MESSAGE_INSERTED = 'I', MESSAGE_REMOVED = 'O', MESSAGE_BYE = 'B' };
// The status of a reply.
enum { STATUS_DONE = 0, STATUS_NO_CARD = 1, STATUS_UNSUPPORTED = 2, STATUS_FAILED = 3 };

#define PROTOCOL_VERSION 2
#define HEADER_SIZE 6
// Enough for an APDU, a control code and data, or a status and data.
#define MAX_PAYLOAD (OCN_MAX_APDU_SIZE + 16)
#define MAX_PATH 108

// Time limits, in milliseconds. An APDU may take long, because a card may repeatedly ask for more time. A reader that
// has not answered by then is treated as unplugged.
#define LIMIT_POWER 5000
#define LIMIT_TRANSMIT 30000
// For the rest of a message, in either direction, after its first byte.
#define LIMIT_MESSAGE 2000
#define LIMIT_GREETING 2000
#define LIMIT_CLOSE 2000
#define RETRY_INTERVAL 250
#define RETRY_AFTER_SILENCE 5000
// How many unrequested messages a reader may send at once, and the interval that earns it one more.
#define UNREQUESTED_BURST 64
#define UNREQUESTED_INTERVAL 20

#pragma GCC visibility push(hidden)

typedef struct {
    // The table of readers, the connection's thread and each call in progress have one reference each.
    atomic_uint references;
    IFDWord lun;
    char path[MAX_PATH];
    pthread_t thread;
    // Closing the connection closes the writing end, so that the reading end wakes all waiting threads.
    int wakeUp[2];

    // Locked during a whole call, because the reader answers one call after the other.
    pthread_mutex_t callMutex;

    // Never locked while waiting for the reader.
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    // The mutex protects everything below.
    int socket;
    // Whether a call is using the socket. Then the thread does not close the socket.
    bool isCalling;
    bool isClosing;
    // Whether the reader left without a goodbye, as when it is unplugged.
    bool isUnplugged;
    // Whether the reader did not answer in time. The next attempt to connect is then later.
    bool wasSilent;
    bool hasCard;
    bool isPowered;
    // Whether pcscd has not yet seen that a card left. Until it has, the next card is not reported.
    bool hasUnseenRemoval;
    // The pcscd thread that waits for changes, if it has ever waited.
    bool hasWatcher;
    pthread_t watcher;
    // The presence that was reported to this thread since its last wait.
    bool hasReportedAbsence;
    bool hasReportedPresence;
    // Counts changes of the presence, so that pcscd does not miss a change.
    unsigned generation;
    unsigned seenGeneration;
    bool stopsPolling;
    uint8_t sequence;
    bool isWaiting;
    bool hasReply;
    uint8_t replyStatus;
    uint8_t *reply;
    size_t replyLength;
    uint8_t atr[OCN_MAX_ATR_SIZE];
    size_t atrLength;
} ReaderConnection;

// Opens a connection. A lost connection is opened again until connectionClose is called.
//
// Returns the connection with one reference for the caller, or NULL if it can't be opened.
ReaderConnection *connectionOpen(IFDWord lun, const char *path);

// Takes or releases a reference. Releasing the last one frees the connection.
void connectionRetain(ReaderConnection *reader);
void connectionRelease(ReaderConnection *reader);

// Closes a connection. Calls in progress return, and later calls fail. Waits for the thread, at most LIMIT_CLOSE.
void connectionClose(ReaderConnection *reader);

// Sends a message and waits at most `limit` milliseconds for its answer. If none arrives by then, the reader is treated
// as unplugged.
//
// `prefix` and `data` are sent as one payload. `*responseLength` is the capacity of `response`, and on success the
// length of the answer. Returns an OCN_IFD_ code.
IFDResult connectionCall(ReaderConnection *reader, uint8_t kind, const uint8_t *prefix, size_t prefixLength,
                         const uint8_t *data, size_t length, uint8_t *response, IFDWord *responseLength, int limit);

// Returns the presence for pcscd. The caller must have locked the mutex.
//
// pcscd checks the presence after each wait, and counts the changes that it sees then. It also checks on any thread
// before it changes a card's power, but does not count a removal seen there (pcsc-lite 1.9.9, ifdwrapper.c,
// IFDPowerICC). So a removal is only forgotten if all checks by the waiting thread since its last wait returned
// absence: then that thread has seen the removal. If pcscd never waits, one check is enough.
bool connectionPresence(ReaderConnection *reader);

// Waits for a change of the presence, at most `limit` milliseconds.
void connectionWait(ReaderConnection *reader, int limit);

#pragma GCC visibility pop

#endif
