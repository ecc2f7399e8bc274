// SPDX-License-Identifier: Apache-2.0
// A reader at the other end of a UNIX socket.
//
// Messages are kind (1 octet), sequence number (1), length (4, big-endian), then as many octets. The driver asks, the reader
// answers with the same sequence number, and says in between when a card comes or goes.
#ifndef OPENCORENFC_READER_CONNECTION_H
#define OPENCORENFC_READER_CONNECTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "include/IFDHandler.h"

// To the reader: its octets are the protocol's version; 0 power down, 1 power up, 2 reset; an APDU; a control code and data;
// an attribute.
enum { MESSAGE_HELLO = 'H', MESSAGE_POWER = 'P', MESSAGE_TRANSMIT = 'T', MESSAGE_CONTROL = 'C', MESSAGE_ATTRIBUTE = 'G' };
// From the reader: a status and data; a card came; it went; the reader leaves and may come again.
enum { MESSAGE_REPLY = 'R', MESSAGE_INSERTED = 'I', MESSAGE_REMOVED = 'O', MESSAGE_BYE = 'B' };
// The status of a reply.
enum { STATUS_DONE = 0, STATUS_NO_CARD = 1, STATUS_UNSUPPORTED = 2, STATUS_FAILED = 3 };

#define PROTOCOL_VERSION 1
#define HEADER_SIZE 6
// An APDU, or a control code and data, or a status and data.
#define MAX_PAYLOAD (OCN_MAX_APDU_SIZE + 16)
#define MAX_PATH 108

// How long anything may take, in milliseconds. A card may ask for more time again and again, so an APDU may take long.
#define LIMIT_POWER 5000
#define LIMIT_TRANSMIT 30000
#define LIMIT_SEND 2000
#define RETRY_INTERVAL 250

typedef struct {
    bool isUsed;
    IFDWord lun;
    char path[MAX_PATH];
    pthread_t thread;
    int wakeUp[2];

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    // All below under the mutex.
    int socket;
    bool isClosing;
    // Whether a reader was there and left without a word, as one that is unplugged.
    bool isUnplugged;
    bool hasCard;
    bool isPowered;
    // The thread of pcscd that waits for changes, once there is one. A removal is told to it, and it alone forgets it:
    // a call that looks at the presence meanwhile would keep it from pcscd.
    pthread_t watcher;
    bool hasWatcher;
    // Whether a card went that pcscd has not heard of yet; it has to, even if the next one is there.
    bool hasUnseenRemoval;
    // Counts changes of the presence, so that a waiting pcscd misses none.
    unsigned generation;
    unsigned seenGeneration;
    bool stopsPolling;
    uint8_t sequence;
    bool hasReply;
    uint8_t replyStatus;
    uint8_t *reply;
    size_t replyLength;
    uint8_t atr[OCN_MAX_ATR_SIZE];
    size_t atrLength;
} ReaderConnection;

// Begins a connection, which is made anew for as long as it is open. Returns false when it can't begin.
bool connectionOpen(ReaderConnection *reader, const char *path);

// Ends a connection. Waits for its thread, which does not take long.
void connectionClose(ReaderConnection *reader);

// Sends a message and waits for its answer, at most `limit` milliseconds.
//
// `prefix` and `data` are sent as one. On success the answer is in `response` and `*responseLength`, which held the capacity.
// Returns an OCN_IFD_ code.
IFDResult connectionCall(ReaderConnection *reader, uint8_t kind, const uint8_t *prefix, size_t prefixLength,
                         const uint8_t *data, size_t length, uint8_t *response, IFDWord *responseLength, int limit);

// Waits for a change of the presence, at most `limit` milliseconds.
void connectionWait(ReaderConnection *reader, int limit);

#endif
