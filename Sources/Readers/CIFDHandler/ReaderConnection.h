// SPDX-License-Identifier: Apache-2.0
// A reader on the other end of a UNIX socket.
//
// A message has its kind (1 byte), a sequence number (1), a length (4, big-endian) and that many bytes. The reader
// greets first, so that the driver never sends a byte to a program that is not a reader. Then the driver sends
// requests, and the reader answers with the same sequence number. In between, the reader reports when a card arrives or
// leaves.
#ifndef OPENCORENFC_READER_CONNECTION_H
#define OPENCORENFC_READER_CONNECTION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "include/IFDHandler.h"

// In both directions: the version of the protocol.
enum { MESSAGE_HELLO = 'H' };
// To the reader: 0 power down, 1 power up, 2 reset; an APDU; a control code and data; an attribute.
enum { MESSAGE_POWER = 'P', MESSAGE_TRANSMIT = 'T', MESSAGE_CONTROL = 'C', MESSAGE_ATTRIBUTE = 'G' };
// From the reader: a status and data; a card has arrived; it has left; the reader leaves and may come back.
enum { MESSAGE_REPLY = 'R', MESSAGE_INSERTED = 'I', MESSAGE_REMOVED = 'O', MESSAGE_BYE = 'B' };
// The status of a reply.
enum { STATUS_DONE = 0, STATUS_NO_CARD = 1, STATUS_UNSUPPORTED = 2, STATUS_FAILED = 3 };

#define PROTOCOL_VERSION 2
#define HEADER_SIZE 6
// An APDU, or a control code and data, or a status and data.
#define MAX_PAYLOAD (OCN_MAX_APDU_SIZE + 16)
#define MAX_PATH 108

// Time limits, in milliseconds. A card may ask for more time again and again, so an APDU may take long. A reader that
// has not answered by then is treated as unplugged.
#define LIMIT_POWER 5000
#define LIMIT_TRANSMIT 30000
// For one whole message, in either direction, after its first byte.
#define LIMIT_MESSAGE 2000
#define LIMIT_GREETING 2000
#define LIMIT_CLOSE 2000
#define RETRY_INTERVAL 250
#define RETRY_AFTER_SILENCE 5000
// How many unrequested messages a reader may send at once, and the interval after which it may send one more.
#define UNASKED_BURST 64
#define UNASKED_INTERVAL 20

#pragma GCC visibility push(hidden)

typedef struct {
    // The table of readers, the connection's thread, and each call in progress hold one reference each.
    atomic_uint references;
    IFDWord lun;
    char path[MAX_PATH];
    pthread_t thread;
    // The connection's end closes the writing end, so that the reading end wakes all waiting threads.
    int wakeUp[2];

    // Held during a whole call, because the reader answers one call after the other.
    pthread_mutex_t callMutex;

    // Never held while waiting for the reader.
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    // The mutex guards everything below.
    int socket;
    // Whether a call uses the socket. The thread then does not close it.
    bool isCalling;
    bool isClosing;
    // Whether a reader has left without a goodbye, like an unplugged one.
    bool isUnplugged;
    // Whether the reader did not answer in time. It is then left alone for a while.
    bool wasSilent;
    bool hasCard;
    bool isPowered;
    // Whether a card has left that pcscd still has to see leave, even if the next card is present.
    bool hasUnseenRemoval;
    // pcscd's thread that waits for changes, once it has waited.
    bool hasWatcher;
    pthread_t watcher;
    // The presence that this thread was given since its last wait.
    bool hasToldAbsence;
    bool hasToldPresence;
    // Counts changes of the presence, so that pcscd misses none while it waits.
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

// Opens a connection. Until it is closed, it connects again whenever it is lost.
//
// Returns it with one reference for the caller, or NULL when it can't be opened.
ReaderConnection *connectionOpen(IFDWord lun, const char *path);

// Takes or releases a reference. Releasing the last one frees the connection.
void connectionRetain(ReaderConnection *reader);
void connectionRelease(ReaderConnection *reader);

// Closes a connection: calls in progress return, and later ones fail. Waits at most LIMIT_CLOSE for its thread.
void connectionClose(ReaderConnection *reader);

// Sends a message and waits for its answer, at most `limit` milliseconds. If there is no answer by then, the reader is
// treated as unplugged.
//
// `prefix` and `data` are sent as one payload. On success the answer is in `response`, and its length in
// `*responseLength`, which held the capacity before. Returns an OCN_IFD_ code.
IFDResult connectionCall(ReaderConnection *reader, uint8_t kind, const uint8_t *prefix, size_t prefixLength,
                         const uint8_t *data, size_t length, uint8_t *response, IFDWord *responseLength, int limit);

// Returns the presence for pcscd. The caller holds the mutex.
//
// pcscd checks the presence after each wait, and counts the changes that it sees then. It also checks before it changes
// a card's power, on any thread, but does not count a removal that it sees there (pcsc-lite 1.9.9, ifdwrapper.c,
// IFDPowerICC). So a removal is forgotten only if every check of the waiting thread since its last wait has returned
// absence: then the thread has seen the removal itself. A pcscd that never waits only checks.
bool connectionPresence(ReaderConnection *reader);

// Waits for a change of the presence, at most `limit` milliseconds.
void connectionWait(ReaderConnection *reader, int limit);

#pragma GCC visibility pop

#endif
