// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "ReaderSocket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// MARK: Time

long long monotonicMilliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000L;
}

// Returns the time until a deadline, for poll.
static int millisecondsUntil(long long deadline) {
    if (deadline == NO_DEADLINE) return -1;
    // Adds one, because the clock's milliseconds are rounded down.
    long long left = deadline - monotonicMilliseconds() + 1;
    return left < 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

// MARK: Connecting

// Opens the folder of a path, and sets `owner`. Returns -1 if anyone but the owner may write to the folder.
static int openFolder(const char *path, uid_t *owner) {
    const char *slash = strrchr(path, '/');
    char folder[108];
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (length == 0 || length >= sizeof folder) return -1;
    memcpy(folder, path, length);
    folder[length] = 0;
    int descriptor = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        close(descriptor);
        return -1;
    }
    if (descriptor >= 0) *owner = status.st_uid;
    return descriptor;
}

// Opens the socket file without connecting, and sets `owner`. Returns -1 if it is not a socket, or is not trusted.
static int openNode(const char *path, uid_t *owner) {
    uid_t folderOwner = 0;
    int folder = openFolder(path, &folderOwner);
    if (folder < 0) return -1;
    int node = openat(folder, strrchr(path, '/') + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    close(folder);
    if (node < 0) return -1;
    struct stat status;
    bool isTrusted = fstat(node, &status) == 0 && S_ISSOCK(status.st_mode) &&
                     (status.st_uid == 0 || status.st_uid == geteuid() || status.st_uid == folderOwner);
    if (!isTrusted) {
        close(node);
        return -1;
    }
    *owner = status.st_uid;
    return node;
}

static bool isListenerTrusted(int socket, uid_t owner) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer) return false;
    return peer.uid == owner || peer.uid == 0 || peer.uid == geteuid();
}

int readerSocketConnect(const char *path) {
    uid_t owner = 0;
    int node = openNode(path, &owner);
    if (node < 0) return -1;
    // Connects through the descriptor, so that the checked socket is used even if the path has changed.
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", node);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // A non-blocking connect to a UNIX socket succeeds or fails at once. A full backlog counts as a failure.
    bool isConnected = descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0;
    close(node);
    if (isConnected && isListenerTrusted(descriptor, owner)) return descriptor;
    if (descriptor >= 0) close(descriptor);
    return -1;
}

// MARK: Bytes

int readerSocketWait(int wakeUp, int socket, short events, long long deadline) {
    // poll ignores a descriptor below 0.
    struct pollfd descriptors[2] = {{.fd = wakeUp, .events = POLLIN}, {.fd = socket, .events = events}};
    while (true) {
        int count = poll(descriptors, 2, millisecondsUntil(deadline));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 || descriptors[0].revents != 0) return -1;
        return count > 0 ? 1 : 0;
    }
}

bool readerSocketSend(int wakeUp, int socket, const uint8_t *bytes, size_t length, long long deadline) {
    while (length > 0) {
        ssize_t count = send(socket, bytes, length, MSG_NOSIGNAL);
        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
        } else if (count < 0 && errno == EAGAIN) {
            if (readerSocketWait(wakeUp, socket, POLLOUT, deadline) <= 0) return false;
        } else if (count == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

bool readerSocketReceive(int wakeUp, int socket, uint8_t *bytes, size_t length, long long deadline) {
    while (length > 0) {
        ssize_t count = recv(socket, bytes, length, 0);
        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
        } else if (count < 0 && errno == EAGAIN) {
            if (readerSocketWait(wakeUp, socket, POLLIN, deadline) <= 0) return false;
        } else if (count == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}
