// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "ReaderConnection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "ReaderSocket.h"

// MARK: Messages

static bool sendMessage(int wakeUp, int socket, uint8_t kind, uint8_t sequence, const uint8_t *prefix, size_t prefixLength,
                        const uint8_t *data, size_t length) {
    size_t total = prefixLength + length;
    if (total > MAX_PAYLOAD) return false;
    uint8_t *message = malloc(HEADER_SIZE + total);
    if (message == NULL) return false;
    uint8_t header[HEADER_SIZE] = {kind,
                                   sequence,
                                   (uint8_t)(total >> 24),
                                   (uint8_t)(total >> 16),
                                   (uint8_t)(total >> 8),
                                   (uint8_t)total};
    memcpy(message, header, HEADER_SIZE);
    if (prefixLength > 0) memcpy(message + HEADER_SIZE, prefix, prefixLength);
    if (length > 0) memcpy(message + HEADER_SIZE + prefixLength, data, length);
    long long deadline = monotonicMilliseconds() + LIMIT_MESSAGE;
    bool isSent = readerSocketSend(wakeUp, socket, message, HEADER_SIZE + total, deadline);
    free(message);
    return isSent;
}

// Reads a message into `header` and `payload`. `payload` has room for MAX_PAYLOAD bytes.
//
// The first byte must arrive before `deadline`, and the rest within LIMIT_MESSAGE.
static bool receiveMessage(int wakeUp, int socket, uint8_t *header, uint8_t *payload, size_t *length,
                           long long deadline) {
    if (!readerSocketReceive(wakeUp, socket, header, 1, deadline)) return false;
    long long end = monotonicMilliseconds() + LIMIT_MESSAGE;
    if (!readerSocketReceive(wakeUp, socket, header + 1, HEADER_SIZE - 1, end)) return false;
    *length = (size_t)header[2] << 24 | (size_t)header[3] << 16 | (size_t)header[4] << 8 | header[5];
    return *length <= MAX_PAYLOAD && readerSocketReceive(wakeUp, socket, payload, *length, end);
}

// MARK: The limit of unrequested messages

// Counts one unrequested message from a reader, and waits if there were too many. A reader that keeps reporting events
// must not keep a processor busy, neither here nor in pcscd, which checks the presence after each change. `fullAt` is
// the time at which the whole allowance is available again.
//
// Returns false if the connection ends during the wait.
static bool spendAllowance(long long *fullAt, int wakeUp) {
    long long now = monotonicMilliseconds();
    if (*fullAt < now) *fullAt = now;
    *fullAt += UNREQUESTED_INTERVAL;
    long long excess = *fullAt - now - (long long)UNREQUESTED_BURST * UNREQUESTED_INTERVAL;
    if (excess <= 0) return true;
    return readerSocketWait(wakeUp, -1, 0, now + excess) >= 0;
}

// MARK: The thread

// Records that the card has left. The caller must have locked the mutex.
static void removeCard(ReaderConnection *reader) {
    if (reader->hasCard) reader->hasUnseenRemoval = true;
    reader->hasCard = false;
    reader->isPowered = false;
    reader->atrLength = 0;
}

// The result of handling a message.
typedef enum { TAKEN, TAKEN_UNASKED, LEFT, NOT_UNDERSTOOD } Taken;

static Taken takeMessage(ReaderConnection *reader, const uint8_t *header, const uint8_t *payload, size_t length) {
    Taken taken = TAKEN_UNASKED;
    pthread_mutex_lock(&reader->mutex);
    switch (header[0]) {
    case MESSAGE_INSERTED:
        removeCard(reader);
        reader->hasCard = true;
        reader->generation += 1;
        break;
    case MESSAGE_REMOVED:
        removeCard(reader);
        reader->generation += 1;
        break;
    case MESSAGE_BYE:
        taken = LEFT;
        break;
    case MESSAGE_REPLY:
        if (length == 0) {
            taken = NOT_UNDERSTOOD;
        } else if (reader->isWaiting && !reader->hasReply && header[1] == reader->sequence) {
            // A late answer has an old sequence number, so it is ignored.
            reader->replyStatus = payload[0];
            reader->replyLength = length - 1;
            memcpy(reader->reply, payload + 1, length - 1);
            reader->hasReply = true;
            taken = TAKEN;
        }
        break;
    default:
        taken = NOT_UNDERSTOOD;
        break;
    }
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
    return taken;
}

static bool isClosing(ReaderConnection *reader) {
    pthread_mutex_lock(&reader->mutex);
    bool isClosing = reader->isClosing;
    pthread_mutex_unlock(&reader->mutex);
    return isClosing;
}

// Handles messages until the reader leaves, the reader sends invalid data, or the connection ends.
//
// Returns whether the reader said goodbye first.
static bool serve(ReaderConnection *reader, int socket, uint8_t *buffer) {
    uint8_t header[HEADER_SIZE];
    size_t length = 0;
    long long fullAt = 0;
    // Checks `isClosing` after each message, because a reader that always has bytes ready never makes this thread wait.
    while (!isClosing(reader) && receiveMessage(reader->wakeUp[0], socket, header, buffer, &length, NO_DEADLINE)) {
        switch (takeMessage(reader, header, buffer, length)) {
        case TAKEN: break;
        case TAKEN_UNASKED:
            if (!spendAllowance(&fullAt, reader->wakeUp[0])) return false;
            break;
        case LEFT: return true;
        case NOT_UNDERSTOOD: return false;
        }
    }
    return false;
}

// The reader sends its greeting first, with its protocol version. If this driver supports that version, it greets back.
static bool greet(ReaderConnection *reader, int socket, uint8_t *buffer) {
    uint8_t header[HEADER_SIZE];
    size_t length = 0;
    long long deadline = monotonicMilliseconds() + LIMIT_GREETING;
    if (!receiveMessage(reader->wakeUp[0], socket, header, buffer, &length, deadline)) return false;
    if (header[0] != MESSAGE_HELLO || length != 1 || buffer[0] != PROTOCOL_VERSION) return false;
    return sendMessage(reader->wakeUp[0], socket, MESSAGE_HELLO, 0, buffer, 1, NULL, 0);
}

// Runs one connection from greeting to end.
static void meetReader(ReaderConnection *reader, int socket, uint8_t *buffer) {
    if (!greet(reader, socket, buffer)) return;
    pthread_mutex_lock(&reader->mutex);
    reader->socket = socket;
    reader->isUnplugged = false;
    reader->generation += 1;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);

    bool hasLeft = serve(reader, socket, buffer);

    // The socket can't transfer anything now, so a call in progress returns soon.
    shutdown(socket, SHUT_RDWR);
    pthread_mutex_lock(&reader->mutex);
    removeCard(reader);
    reader->socket = -1;
    reader->isUnplugged = !hasLeft;
    reader->generation += 1;
    pthread_cond_broadcast(&reader->changed);
    while (reader->isCalling) pthread_cond_wait(&reader->changed, &reader->mutex);
    pthread_mutex_unlock(&reader->mutex);
}

// Returns whether a reply came too late since the last call of this function.
static bool wasSilent(ReaderConnection *reader) {
    pthread_mutex_lock(&reader->mutex);
    bool wasSilent = reader->wasSilent;
    reader->wasSilent = false;
    pthread_mutex_unlock(&reader->mutex);
    return wasSilent;
}

static void *runConnection(void *context) {
    ReaderConnection *reader = context;
    uint8_t *buffer = malloc(MAX_PAYLOAD);
    long long retry;
    do {
        int descriptor = buffer == NULL ? -1 : readerSocketConnect(reader->path);
        if (descriptor >= 0) {
            meetReader(reader, descriptor, buffer);
            close(descriptor);
        }
        retry = monotonicMilliseconds() + (wasSilent(reader) ? RETRY_AFTER_SILENCE : RETRY_INTERVAL);
    } while (readerSocketWait(reader->wakeUp[0], -1, 0, retry) >= 0);
    free(buffer);
    connectionRelease(reader);
    return NULL;
}

// Starts the thread with all signals blocked, so that pcscd's own threads handle them.
static bool startThread(ReaderConnection *reader) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    connectionRetain(reader);
    bool hasStarted = pthread_create(&reader->thread, NULL, runConnection, reader) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return hasStarted;
}

// MARK: Opening and closing

static void destroy(ReaderConnection *reader) {
    close(reader->wakeUp[0]);
    if (reader->wakeUp[1] >= 0) close(reader->wakeUp[1]);
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->mutex);
    pthread_mutex_destroy(&reader->callMutex);
    free(reader->reply);
    free(reader);
}

ReaderConnection *connectionOpen(IFDWord lun, const char *path) {
    size_t length = strlen(path);
    if (length == 0 || length >= MAX_PATH) return NULL;
    ReaderConnection *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->lun = lun;
    memcpy(reader->path, path, length + 1);
    reader->socket = -1;
    atomic_init(&reader->references, 1);
    reader->reply = malloc(MAX_PAYLOAD);
    if (reader->reply == NULL || pipe2(reader->wakeUp, O_CLOEXEC | O_NONBLOCK) != 0) {
        free(reader->reply);
        free(reader);
        return NULL;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&reader->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&reader->mutex, NULL);
    pthread_mutex_init(&reader->callMutex, NULL);
    if (startThread(reader)) return reader;
    destroy(reader);
    return NULL;
}

void connectionRetain(ReaderConnection *reader) {
    atomic_fetch_add_explicit(&reader->references, 1, memory_order_relaxed);
}

void connectionRelease(ReaderConnection *reader) {
    if (atomic_fetch_sub_explicit(&reader->references, 1, memory_order_acq_rel) == 1) destroy(reader);
}

void connectionClose(ReaderConnection *reader) {
    pthread_mutex_lock(&reader->mutex);
    reader->isClosing = true;
    reader->stopsPolling = true;
    // Closing the writing end wakes all present and future waits on the reading end.
    close(reader->wakeUp[1]);
    reader->wakeUp[1] = -1;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
    // The thread checks `isClosing` after each step, and each step has a time limit. If the thread hangs anyway, it
    // keeps its reference.
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += LIMIT_CLOSE / 1000;
    if (pthread_timedjoin_np(reader->thread, NULL, &limit) != 0) pthread_detach(reader->thread);
}

// MARK: Calls

// Waits for a change. Returns false after the deadline. The caller must have locked the mutex.
static bool awaitChange(ReaderConnection *reader, long long deadline) {
    struct timespec end = {.tv_sec = deadline / 1000, .tv_nsec = deadline % 1000 * 1000000L};
    return pthread_cond_timedwait(&reader->changed, &reader->mutex, &end) != ETIMEDOUT;
}

// Waits for the answer to the sent message. The caller must have locked the mutex.
static IFDResult awaitReply(ReaderConnection *reader, int socket, long long deadline, uint8_t *response,
                            IFDWord capacity, IFDWord *responseLength) {
    bool isLate = false;
    while (!reader->hasReply && !isLate && !reader->isClosing && reader->socket == socket) {
        isLate = !awaitChange(reader, deadline);
    }
    if (!reader->hasReply) {
        // The answer may still arrive late, and the next answer may be missing too. So the reader is treated as
        // unplugged.
        if (reader->socket == socket) shutdown(socket, SHUT_RDWR);
        reader->wasSilent = isLate;
        return isLate ? OCN_IFD_RESPONSE_TIMEOUT : OCN_IFD_NO_SUCH_DEVICE;
    }
    switch (reader->replyStatus) {
    case STATUS_DONE: break;
    case STATUS_NO_CARD: return OCN_IFD_ICC_NOT_PRESENT;
    case STATUS_UNSUPPORTED: return OCN_IFD_NOT_SUPPORTED;
    default: return OCN_IFD_COMMUNICATION_ERROR;
    }
    if (reader->replyLength > capacity) return OCN_IFD_ERROR_INSUFFICIENT_BUFFER;
    if (reader->replyLength > 0) memcpy(response, reader->reply, reader->replyLength);
    *responseLength = reader->replyLength;
    return OCN_IFD_SUCCESS;
}

IFDResult connectionCall(ReaderConnection *reader, uint8_t kind, const uint8_t *prefix, size_t prefixLength,
                         const uint8_t *data, size_t length, uint8_t *response, IFDWord *responseLength, int limit) {
    IFDWord capacity = *responseLength;
    *responseLength = 0;
    IFDResult result = OCN_IFD_NO_SUCH_DEVICE;
    pthread_mutex_lock(&reader->callMutex);
    long long deadline = monotonicMilliseconds() + limit;
    pthread_mutex_lock(&reader->mutex);
    int socket = reader->socket;
    if (socket >= 0 && !reader->isClosing) {
        uint8_t sequence = ++reader->sequence;
        reader->hasReply = false;
        reader->isWaiting = true;
        reader->isCalling = true;
        pthread_mutex_unlock(&reader->mutex);
        bool isSent =
            sendMessage(reader->wakeUp[0], socket, kind, sequence, prefix, prefixLength, data, length);
        pthread_mutex_lock(&reader->mutex);
        if (isSent) {
            result = awaitReply(reader, socket, deadline, response, capacity, responseLength);
        } else {
            // A part of the message may have been sent. Then the reader can't parse the messages after it.
            shutdown(socket, SHUT_RDWR);
        }
        reader->isCalling = false;
        // Answers that arrive from now on are late.
        reader->isWaiting = false;
        pthread_cond_broadcast(&reader->changed);
    }
    pthread_mutex_unlock(&reader->mutex);
    pthread_mutex_unlock(&reader->callMutex);
    return result;
}

// MARK: Presence

// Clears a removal that pcscd has seen. If another card is present, makes pcscd check again at once.
static void forgetRemoval(ReaderConnection *reader) {
    reader->hasUnseenRemoval = false;
    if (!reader->hasCard) return;
    reader->generation += 1;
    pthread_cond_broadcast(&reader->changed);
}

bool connectionPresence(ReaderConnection *reader) {
    bool isPresent = reader->hasCard && !reader->hasUnseenRemoval;
    if (reader->hasWatcher && pthread_equal(reader->watcher, pthread_self())) {
        if (isPresent) reader->hasReportedPresence = true;
        else reader->hasReportedAbsence = true;
    }
    if (reader->hasUnseenRemoval && !reader->hasWatcher) forgetRemoval(reader);
    return isPresent;
}

void connectionWait(ReaderConnection *reader, int limit) {
    long long deadline = monotonicMilliseconds() + limit;
    pthread_mutex_lock(&reader->mutex);
    reader->hasWatcher = true;
    reader->watcher = pthread_self();
    if (reader->hasReportedAbsence && !reader->hasReportedPresence) forgetRemoval(reader);
    reader->hasReportedAbsence = false;
    reader->hasReportedPresence = false;
    bool isLate = false;
    while (reader->generation == reader->seenGeneration && !reader->stopsPolling && !isLate) {
        isLate = !awaitChange(reader, deadline);
    }
    reader->seenGeneration = reader->generation;
    if (!reader->isClosing) reader->stopsPolling = false;
    pthread_mutex_unlock(&reader->mutex);
}
