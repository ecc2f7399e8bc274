// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CMosquittoInput.h"

#include <mosquitto.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// libmosquitto makes its sockets without SOCK_CLOEXEC. A program that another thread starts before the flag can be set would
// keep a copy. Then the end of the connection wakes the loop again and again. The dynamic linker takes functions of the
// program before those of libraries, so libmosquitto calls the one below. It does what the original does. Only while
// fleet_connect() runs on this thread, it also sets the flag.

static _Thread_local bool is_connecting;

int fleet_connect(struct mosquitto *mosquitto, const char *host, int port, int keep_alive) {
    is_connecting = true;
    int result = mosquitto_connect_async(mosquitto, host, port, keep_alive);
    is_connecting = false;
    return result;
}

int socket(int domain, int type, int protocol) {
    return (int)syscall(SYS_socket, domain, is_connecting ? type | SOCK_CLOEXEC : type, protocol);
}
