// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "ReaderConnection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// MARK: Time

static struct timespec deadlineAfter(int milliseconds) {
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += milliseconds / 1000;
    deadline.tv_nsec += (long)(milliseconds % 1000) * 1000000L;
    if (deadline.tv_nsec >= 1000000000L) {
        deadline.tv_sec += 1;
        deadline.tv_nsec -= 1000000000L;
    }
    return deadline;
}

// MARK: Octets

// Sends all octets, or gives up when the reader takes none for a while. The mutex is held, so messages stay whole.
static bool sendAll(int socket, const uint8_t *octets, size_t length) {
    while (length > 0) {
        ssize_t count = send(socket, octets, length, MSG_NOSIGNAL);
        if (count > 0) {
            octets += count;
            length -= (size_t)count;
        } else if (count < 0 && errno == EAGAIN) {
            struct pollfd writable = {.fd = socket, .events = POLLOUT};
            if (poll(&writable, 1, LIMIT_SEND) <= 0) return false;
        } else if (count == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool sendMessage(int socket, uint8_t kind, uint8_t sequence, const uint8_t *prefix, size_t prefixLength,
                        const uint8_t *data, size_t length) {
    size_t total = prefixLength + length;
    if (total > MAX_PAYLOAD) return false;
    uint8_t header[HEADER_SIZE] = {kind,
                                   sequence,
                                   (uint8_t)(total >> 24),
                                   (uint8_t)(total >> 16),
                                   (uint8_t)(total >> 8),
                                   (uint8_t)total};
    uint8_t small[256];
    if (HEADER_SIZE + total <= sizeof small) {
        memcpy(small, header, HEADER_SIZE);
        if (prefixLength > 0) memcpy(small + HEADER_SIZE, prefix, prefixLength);
        if (length > 0) memcpy(small + HEADER_SIZE + prefixLength, data, length);
        return sendAll(socket, small, HEADER_SIZE + total);
    }
    return sendAll(socket, header, HEADER_SIZE) && sendAll(socket, prefix, prefixLength) && sendAll(socket, data, length);
}

// Waits for the socket, or for the end of the connection.
//
// Returns 1 when there is something to read, 0 when the time is over, -1 when the connection ends.
static int waitReadable(ReaderConnection *reader, int socket, int limit) {
    struct pollfd descriptors[2] = {{.fd = reader->wakeUp[0], .events = POLLIN}, {.fd = socket, .events = POLLIN}};
    while (true) {
        int count = poll(descriptors, socket < 0 ? 1 : 2, limit);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 || descriptors[0].revents != 0) return -1;
        return count > 0 ? 1 : 0;
    }
}

// Reads exactly as many octets. A reader that stops in the middle of a message is given up after a while.
static bool receiveAll(ReaderConnection *reader, int socket, uint8_t *octets, size_t length, bool isInside) {
    while (length > 0) {
        ssize_t count = recv(socket, octets, length, 0);
        if (count > 0) {
            octets += count;
            length -= (size_t)count;
            isInside = true;
        } else if (count < 0 && errno == EAGAIN) {
            if (waitReadable(reader, socket, isInside ? LIMIT_SEND : -1) <= 0) return false;
        } else if (count == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

// MARK: The thread

static int connectOnce(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path) return -1;
    memcpy(address.sun_path, path, length + 1);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    // On a UNIX socket this never waits: it is there or it is not.
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

// Notes that the card went. The mutex is held.
static void removeCard(ReaderConnection *reader) {
    if (reader->hasCard) reader->hasUnseenRemoval = true;
    reader->hasCard = false;
    reader->isPowered = false;
    reader->atrLength = 0;
}

static void takeMessage(ReaderConnection *reader, uint8_t kind, uint8_t sequence, uint8_t *payload, size_t length,
                        bool *saidBye) {
    pthread_mutex_lock(&reader->mutex);
    switch (kind) {
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
        *saidBye = true;
        break;
    case MESSAGE_REPLY:
        // An answer that comes too late has an old number.
        if (length >= 1 && sequence == reader->sequence && !reader->hasReply) {
            reader->replyStatus = payload[0];
            reader->replyLength = length - 1;
            memcpy(reader->reply, payload + 1, length - 1);
            reader->hasReply = true;
        }
        break;
    default:
        break;
    }
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
}

// Takes messages until the reader leaves, or sends what is none.
static void serve(ReaderConnection *reader, int socket, uint8_t *buffer, bool *saidBye) {
    uint8_t header[HEADER_SIZE];
    while (receiveAll(reader, socket, header, HEADER_SIZE, false)) {
        size_t length = (size_t)header[2] << 24 | (size_t)header[3] << 16 | (size_t)header[4] << 8 | header[5];
        if (length > MAX_PAYLOAD || !receiveAll(reader, socket, buffer, length, true)) return;
        takeMessage(reader, header[0], header[1], buffer, length, saidBye);
    }
}

static void *runConnection(void *context) {
    ReaderConnection *reader = context;
    uint8_t *buffer = malloc(MAX_PAYLOAD);
    while (buffer != NULL) {
        int descriptor = connectOnce(reader->path);
        if (descriptor >= 0) {
            const uint8_t version = PROTOCOL_VERSION;
            bool saidBye = false;
            pthread_mutex_lock(&reader->mutex);
            reader->socket = descriptor;
            reader->isUnplugged = false;
            reader->generation += 1;
            bool isGreeted = sendMessage(descriptor, MESSAGE_HELLO, 0, &version, 1, NULL, 0);
            pthread_cond_broadcast(&reader->changed);
            pthread_mutex_unlock(&reader->mutex);

            if (isGreeted) serve(reader, descriptor, buffer, &saidBye);

            pthread_mutex_lock(&reader->mutex);
            removeCard(reader);
            reader->socket = -1;
            reader->isUnplugged = !saidBye;
            reader->generation += 1;
            pthread_cond_broadcast(&reader->changed);
            pthread_mutex_unlock(&reader->mutex);
            close(descriptor);
        }
        if (waitReadable(reader, -1, RETRY_INTERVAL) < 0) break;
    }
    free(buffer);
    return NULL;
}

// MARK: Opening and closing

bool connectionOpen(ReaderConnection *reader, const char *path) {
    size_t length = strlen(path);
    if (length == 0 || length >= MAX_PATH) return false;
    memcpy(reader->path, path, length + 1);
    reader->socket = -1;
    reader->reply = malloc(MAX_PAYLOAD);
    if (reader->reply == NULL) return false;
    if (pipe2(reader->wakeUp, O_CLOEXEC | O_NONBLOCK) != 0) {
        free(reader->reply);
        return false;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&reader->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&reader->mutex, NULL);
    if (pthread_create(&reader->thread, NULL, runConnection, reader) == 0) return true;
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->mutex);
    close(reader->wakeUp[0]);
    close(reader->wakeUp[1]);
    free(reader->reply);
    return false;
}

void connectionClose(ReaderConnection *reader) {
    pthread_mutex_lock(&reader->mutex);
    reader->isClosing = true;
    reader->stopsPolling = true;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
    // Closed for writing: whoever waits on the other end of the pipe wakes up, now and later.
    close(reader->wakeUp[1]);
    pthread_join(reader->thread, NULL);
    close(reader->wakeUp[0]);
    pthread_cond_destroy(&reader->changed);
    pthread_mutex_destroy(&reader->mutex);
    free(reader->reply);
}

// MARK: Calls

IFDResult connectionCall(ReaderConnection *reader, uint8_t kind, const uint8_t *prefix, size_t prefixLength,
                         const uint8_t *data, size_t length, uint8_t *response, IFDWord *responseLength, int limit) {
    IFDWord capacity = *responseLength;
    *responseLength = 0;
    struct timespec deadline = deadlineAfter(limit);
    pthread_mutex_lock(&reader->mutex);
    IFDResult result = OCN_IFD_NO_SUCH_DEVICE;
    int socket = reader->socket;
    if (socket >= 0 && !reader->isClosing) {
        reader->sequence += 1;
        reader->hasReply = false;
        if (sendMessage(socket, kind, reader->sequence, prefix, prefixLength, data, length)) {
            bool isLate = false;
            while (!reader->hasReply && !isLate && !reader->isClosing && reader->socket == socket) {
                isLate = pthread_cond_timedwait(&reader->changed, &reader->mutex, &deadline) == ETIMEDOUT;
            }
            if (!reader->hasReply) {
                result = isLate ? OCN_IFD_RESPONSE_TIMEOUT : OCN_IFD_NO_SUCH_DEVICE;
            } else if (reader->replyStatus == STATUS_NO_CARD) {
                result = OCN_IFD_ICC_NOT_PRESENT;
            } else if (reader->replyStatus == STATUS_UNSUPPORTED) {
                result = OCN_IFD_NOT_SUPPORTED;
            } else if (reader->replyStatus != STATUS_DONE) {
                result = OCN_IFD_COMMUNICATION_ERROR;
            } else if (reader->replyLength > capacity) {
                result = OCN_IFD_ERROR_INSUFFICIENT_BUFFER;
            } else {
                if (reader->replyLength > 0) memcpy(response, reader->reply, reader->replyLength);
                *responseLength = reader->replyLength;
                result = OCN_IFD_SUCCESS;
            }
            // What comes from now on is late.
            reader->hasReply = true;
        } else {
            // Part of a message may have gone: nothing after it would be understood.
            shutdown(socket, SHUT_RDWR);
        }
    }
    pthread_mutex_unlock(&reader->mutex);
    return result;
}

void connectionWait(ReaderConnection *reader, int limit) {
    struct timespec deadline = deadlineAfter(limit);
    pthread_mutex_lock(&reader->mutex);
    bool isLate = false;
    while (reader->generation == reader->seenGeneration && !reader->stopsPolling && !isLate) {
        isLate = pthread_cond_timedwait(&reader->changed, &reader->mutex, &deadline) == ETIMEDOUT;
    }
    reader->seenGeneration = reader->generation;
    reader->stopsPolling = false;
    pthread_mutex_unlock(&reader->mutex);
}
