// SPDX-License-Identifier: Apache-2.0
#include "CSocketState.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

bool fleet_was_connected(int socket) {
    // After a reset, the kernel forgets the peer's address, and SO_ERROR can be read only once. So this checks the
    // acknowledged bytes instead: an acknowledged SYN counts as one byte.
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_bytes_acked > 0;
}

uint64_t fleet_acknowledged(int socket, bool *is_waiting) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    *is_waiting = getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && (info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0);
    return info.tcpi_bytes_acked;
}

void fleet_discard(int socket) {
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}
