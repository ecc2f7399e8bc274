// SPDX-License-Identifier: Apache-2.0
// Shared by the fake readers that test the driver.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

// Sends all bytes. Returns false if the connection was lost.
static bool sendAll(int socket, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = send(socket, bytes, length, MSG_NOSIGNAL);
        if (count <= 0) return false;
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}
