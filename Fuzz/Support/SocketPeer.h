// SPDX-License-Identifier: Apache-2.0
// What readers that are played for the driver share.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

// Sends all bytes; false when the other end is gone.
static bool sendAll(int socket, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = send(socket, bytes, length, MSG_NOSIGNAL);
        if (count <= 0) return false;
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}
