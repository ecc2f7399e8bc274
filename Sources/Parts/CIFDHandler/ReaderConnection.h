// SPDX-License-Identifier: Apache-2.0
// A reader at the other end of a UNIX socket.
//
// A message is its kind (1 byte), a sequence number (1), a length (4, big-endian) and that many bytes. The reader greets first,
// so that the driver never sends a byte to a program that is no reader. Then the driver asks, the reader answers with the same
// sequence number, and reports in between when a card comes or goes.
#ifndef OPENCORENFC_READER_CONNECTION_H
#define OPENCORENFC_READER_CONNECTION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "include/IFDHandler.h"

// Both ways: the version of the protocol.
enum { MESSAGE_HELLO = 'H' };
// To the reader: 0 power down, 1 power up, 2 reset; an APDU; a control code and data; an attribute.
enum { MESSAGE_POWER = 'P', MESSAGE_TRANSMIT = 'T', MESSAGE_CONTROL = 'C', MESSAGE_ATTRIBUTE = 'G' };
// From the reader: a status and data; a card came; it went; the reader leaves and may come again.
enum { MESSAGE_REPLY = 'R', MESSAGE_INSERTED = 'I', MESSAGE_REMOVED = 'O', MESSAGE_BYE = 'B' };
// The status of a reply.
enum { STATUS_DONE = 0, STATUS_NO_CARD = 1, STATUS_UNSUPPORTED = 2, STATUS_FAILED = 3 };

#define PROTOCOL_VERSION 2
#define HEADER_SIZE 6
// An APDU, or a control code and data, or a status and data.
#define MAX_PAYLOAD (OCN_MAX_APDU_SIZE + 16)
#define MAX_PATH 108

// How long anything may take, in milliseconds. A card may ask for more time again and again, so an APDU may take long; a reader
// that has not answered by then counts as unplugged.
#define LIMIT_POWER 5000
#define LIMIT_TRANSMIT 30000
// One whole message, in either direction, once its first byte is there.
#define LIMIT_MESSAGE 2000
#define LIMIT_GREETING 2000
#define LIMIT_CLOSE 2000
#define RETRY_INTERVAL 250
#define RETRY_AFTER_SILENCE 5000
// How many messages a reader may send that nobody asked for, at once and then each so many milliseconds.
#define UNASKED_BURST 64
#define UNASKED_INTERVAL 20

#pragma GCC visibility push(hidden)

typedef struct {
    // The table of readers, its thread, and each call that is under way have one each.
    atomic_uint references;
    IFDWord lun;
    char path[MAX_PATH];
    pthread_t thread;
    // Closed at its writing end when the connection ends: then the reading end wakes up whoever waits.
    int wakeUp[2];

    // Held for the whole of a call: the reader answers one after the other.
    pthread_mutex_t callMutex;

    // Never held while anything waits for the reader.
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    // All below under the mutex.
    int socket;
    // Whether a call uses the socket: the thread does not close it meanwhile.
    bool isCalling;
    bool isClosing;
    // Whether a reader was there and left without a word, as one that is unplugged.
    bool isUnplugged;
    // Whether it did not answer in time, and so is left alone for a while.
    bool wasSilent;
    bool hasCard;
    bool isPowered;
    // Whether a card went that pcscd has not heard of yet; it has to, even if the next one is there.
    bool hasUnseenRemoval;
    // The thread of pcscd that waits for changes, once it has.
    bool hasWatcher;
    pthread_t watcher;
    // What that thread has been told since it waited last.
    bool hasToldAbsence;
    bool hasToldPresence;
    // Counts changes of the presence, so that a waiting pcscd misses none.
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

// Begins a connection; while it is open, it is made again whenever it is lost.
//
// Returns it with one reference for the caller, or NULL when it can't begin.
ReaderConnection *connectionOpen(IFDWord lun, const char *path);

// Takes a reference, or gives one back; the last one frees the connection.
void connectionRetain(ReaderConnection *reader);
void connectionRelease(ReaderConnection *reader);

// Ends a connection: calls that wait return, and later ones fail. Waits for its thread for LIMIT_CLOSE at most.
void connectionClose(ReaderConnection *reader);

// Sends a message and waits for its answer, at most `limit` milliseconds. A reader that lets them pass counts as unplugged.
//
// `prefix` and `data` are sent as one. On success the answer is in `response` and `*responseLength`, which held the capacity.
// Returns an OCN_IFD_ code.
IFDResult connectionCall(ReaderConnection *reader, uint8_t kind, const uint8_t *prefix, size_t prefixLength,
                         const uint8_t *data, size_t length, uint8_t *response, IFDWord *responseLength, int limit);

// What pcscd is told of the presence. The mutex is held.
//
// pcscd looks after each wait, and counts what it sees then. It also looks before it gives or takes power, on any thread, and takes
// no removal of what it sees there (pcsc-lite 1.9.9, ifdwrapper.c, IFDPowerICC). So a removal is forgotten when the thread that
// waits was told of absence alone since its last wait: then its own look was among that. A pcscd that never waits only looks.
bool connectionPresence(ReaderConnection *reader);

// Waits for a change of the presence, at most `limit` milliseconds.
void connectionWait(ReaderConnection *reader, int limit);

#pragma GCC visibility pop

#endif
