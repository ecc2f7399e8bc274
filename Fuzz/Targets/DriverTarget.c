// SPDX-License-Identifier: Apache-2.0
// For any calls from pcscd and any replies from the reader, every call returns and stays within its buffers. Unless the
// input says otherwise, replies are valid, so that most runs get past power-up. The driver's thread is not started,
// because two threads that wait for each other are a hundred times slower: messages are processed right after each
// request is sent.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int startNothing(void *context);
static int joinNothing(void);
static bool answerAfterSending(int wakeUp, int socket, const uint8_t *bytes, size_t length, long long deadline);

#include "../../Sources/Readers/CIFDHandler/ReaderSocket.c"
#define pthread_create(thread, attributes, function, context) ((void)(function), startNothing(context))
#define pthread_timedjoin_np(thread, result, limit) ((void)(limit), joinNothing())
#define readerSocketSend answerAfterSending
#include "../../Sources/Readers/CIFDHandler/ReaderConnection.c"
#undef readerSocketSend
#include "../../Sources/Readers/CIFDHandler/IFDHandler.c"
#include "../Support/SocketPeer.h"

// MARK: The input

typedef struct {
    const uint8_t *bytes;
    size_t left;
} Input;

static uint8_t next(Input *input) {
    if (input->left == 0) return 0;
    input->left -= 1;
    return *input->bytes++;
}

// MARK: The reader

typedef struct {
    int socket;
    Input answers;
    // The part of the driver's request that has arrived.
    uint8_t question[HEADER_SIZE];
    size_t count;
    size_t length;
} Peer;

static Peer peer;
static ReaderConnection *connection;
static uint8_t scratch[MAX_PAYLOAD];

static bool say(int socket, uint8_t kind, uint8_t sequence, const uint8_t *payload, size_t length) {
    uint8_t header[6] = {kind, sequence, 0, (uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length};
    return sendAll(socket, header, sizeof header) && sendAll(socket, payload, length);
}

// An answer with a status, as long as the input says and filled from it.
static bool reply(Peer *peer, uint8_t sequence, uint8_t status, bool isLong) {
    static uint8_t payload[70000];
    size_t length = next(&peer->answers);
    if (isLong) length = length * 300 % (MAX_PAYLOAD + 2);
    payload[0] = status;
    for (size_t index = 0; index < length; index++) payload[1 + index] = next(&peer->answers);
    return say(peer->socket, MESSAGE_REPLY, sequence, payload, 1 + length);
}

// Answers one question.
static bool answer(Peer *peer, uint8_t sequence) {
    uint8_t choice = next(&peer->answers);
    uint8_t status = (choice & 0x18) == 0x18 ? choice >> 5 : STATUS_DONE;
    switch (choice & 7) {
    case 3: return say(peer->socket, choice & 0x20 ? MESSAGE_REMOVED : MESSAGE_INSERTED, 0, NULL, 0) && reply(peer, sequence, status, false);
    case 4: return reply(peer, sequence + 1, status, false) && reply(peer, sequence, status, false);
    case 5: return reply(peer, sequence, status, true);
    case 6: {
        // Anything, and then the end.
        sendAll(peer->socket, peer->answers.bytes, peer->answers.left);
        return false;
    }
    case 7: return (choice & 0x20) == 0 ? reply(peer, sequence, status, false) : (say(peer->socket, MESSAGE_BYE, 0, NULL, 0), false);
    default: return reply(peer, sequence, status, false);
    }
}

// The end of a connection, as the driver's thread notes it.
static void lose(bool hasLeft) {
    pthread_mutex_lock(&connection->mutex);
    removeCard(connection);
    connection->socket = -1;
    connection->isUnplugged = !hasLeft;
    pthread_mutex_unlock(&connection->mutex);
}

// Takes what the reader has sent. No message is waited for: the rest of one that is cut off is the end.
static void takeMessages(int socket) {
    uint8_t header[HEADER_SIZE];
    size_t length = 0;
    uint8_t first;
    while (connection->socket >= 0 && recv(socket, &first, 1, MSG_PEEK) == 1) {
        if (!receiveMessage(connection->wakeUp[0], socket, header, scratch, &length, NO_DEADLINE)) return lose(false);
        switch (takeMessage(connection, header, scratch, length)) {
        case TAKEN:
        case TAKEN_UNASKED: break;
        case LEFT: return lose(true);
        case NOT_UNDERSTOOD: return lose(false);
        }
    }
}

// Takes a question, or a part of one; a whole one is answered.
static bool answerAfterSending(int wakeUp, int socket, const uint8_t *bytes, size_t length, long long deadline) {
    (void)wakeUp;
    (void)deadline;
    for (; length > 0 && peer.count < HEADER_SIZE; length--) peer.question[peer.count++] = *bytes++;
    peer.length += length;
    const uint8_t *header = peer.question;
    if (peer.count < HEADER_SIZE) abort();
    size_t expected = (size_t)header[2] << 24 | (size_t)header[3] << 16 | (size_t)header[4] << 8 | header[5];
    if (expected > MAX_PAYLOAD || peer.length > expected) abort();
    if (peer.length < expected) return true;
    peer.count = peer.length = 0;
    if (header[0] == MESSAGE_HELLO) return true;
    if (strchr("PTCG", header[0]) == NULL) abort();
    bool goesOn = peer.answers.left > 0 && answer(&peer, header[1]);
    if (!goesOn) shutdown(peer.socket, SHUT_WR);
    takeMessages(socket);
    // Nothing more comes: the driver's thread would notice the end.
    if (!goesOn || !connection->hasReply) lose(false);
    return true;
}

// MARK: The driver's thread

static int startNothing(void *context) {
    connection = context;
    return 0;
}

static int joinNothing(void) {
    connectionRelease(connection);
    return 0;
}

// The reader is there, and has greeted.
static void meet(int socket) {
    uint8_t version = PROTOCOL_VERSION;
    if (next(&peer.answers) == 0xFF) {
        sendAll(peer.socket, peer.answers.bytes, peer.answers.left);
        shutdown(peer.socket, SHUT_WR);
    } else {
        say(peer.socket, MESSAGE_HELLO, 0, &version, 1);
        say(peer.socket, MESSAGE_INSERTED, 0, NULL, 0);
    }
    if (!greet(connection, socket, scratch)) return;
    connection->socket = socket;
    takeMessages(socket);
}

// MARK: pcscd

// One call, by one byte that chooses it and others for its arguments.
static void call(IFDWord lun, Input *calls) {
    uint8_t choice = next(calls);
    IFDWord length = (choice & 0x40) != 0 ? (IFDWord)next(calls) * 258 : choice & 0x20 ? next(calls) : 300;
    IFDWord capacity = length;
    // Exactly as large as the driver may use, so that the sanitizer finds a write beyond it.
    uint8_t *response = malloc(length > 0 ? length : 1);
    uint8_t command[600];
    size_t count = choice & 0x80 ? 600 : next(calls);
    for (size_t index = 0; index < count; index++) command[index] = (uint8_t)index;
    IFDHeader header = {.protocol = 1};
    uint8_t atr[OCN_MAX_ATR_SIZE];
    IFDWord atrLength = sizeof atr;
    switch (choice & 7) {
    case 0: IFDHPowerICC(lun, OCN_IFD_RESET, atr, &atrLength); break;
    case 1: IFDHControl(lun, 0x42000D48, command, count, response, length, &length); break;
    case 2: IFDHGetCapabilities(lun, 0x00010100 + choice, &length, response); break;
    case 3: IFDHGetCapabilities(lun, OCN_TAG_IFD_ATR, &length, response); break;
    case 4: IFDHICCPresence(lun); break;
    case 5: IFDHPowerICC(lun, OCN_IFD_POWER_DOWN, atr, &atrLength); break;
    default: IFDHTransmitToICC(lun, header, command, count, response, &length, &header); break;
    }
    if (length > capacity || atrLength > sizeof atr) abort();
    free(response);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 2) return 0;
    size_t half = 1 + bytes[0] % 48;
    if (half > size) half = size;
    Input calls = {.bytes = bytes + 1, .left = half - 1};
    peer = (Peer){.answers = {.bytes = bytes + half, .left = size - half}};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) abort();
    peer.socket = ends[1];
    IFDWord lun = 0x10000;
    char name[] = "/dev/null:/nowhere/reader.sock";
    if (IFDHCreateChannelByName(lun, name) != OCN_IFD_SUCCESS) abort();
    meet(ends[0]);
    uint8_t atr[OCN_MAX_ATR_SIZE];
    IFDWord length = sizeof atr;
    IFDHPowerICC(lun, OCN_IFD_POWER_UP, atr, &length);
    if (length > sizeof atr) abort();
    while (calls.left > 0) call(lun, &calls);
    if (IFDHCloseChannel(lun) != OCN_IFD_SUCCESS) abort();
    close(ends[0]);
    close(ends[1]);
    return 0;
}
