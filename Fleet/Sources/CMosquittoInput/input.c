// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CMosquittoInput.h"

#include <dlfcn.h>
#include <errno.h>
#include <mosquitto.h>
#include <stdatomic.h>
#include <sys/types.h>

// libmosquitto reads with read(), or with SSL_read() where the connection is encrypted. The dynamic linker takes
// functions of the program before those of libraries, so it calls the two below. They do what the originals do. Only
// while fleet_loop_read() runs on this thread, they also show the bytes that its connection gets.

/// The connection that is read on this thread.
struct reading {
    struct mosquitto *mosquitto;
    fleet_inspection *inspect;
    void *context;
};

static _Thread_local struct reading *current;

int fleet_loop_read(struct mosquitto *mosquitto, int most_packets, fleet_inspection *inspect, void *context) {
    struct reading reading = {mosquitto, inspect, context};
    struct reading *outer = current;
    current = &reading;
    int result = mosquitto_loop_read(mosquitto, most_packets);
    current = outer;
    return result;
}

/// Shows bytes. Returns their count, or 0, which means the end of the connection.
static ssize_t inspected(const void *bytes, ssize_t count) {
    if (count <= 0) return count;
    int number = errno;
    bool is_fine = current->inspect(current->context, bytes, (size_t)count);
    errno = number;
    return is_fine ? count : 0;
}

// The C library's own name for it, which is not replaced.
extern ssize_t __read(int descriptor, void *bytes, size_t count);

ssize_t read(int descriptor, void *bytes, size_t count) {
    ssize_t result = __read(descriptor, bytes, count);
    if (!current || descriptor != mosquitto_socket(current->mosquitto)) return result;
    // OpenSSL reads from the same socket, and what it gets is encrypted.
    return mosquitto_ssl_get(current->mosquitto) ? result : inspected(bytes, result);
}

int SSL_read(void *ssl, void *bytes, int count) {
    static int (*_Atomic original)(void *, void *, int);
    int (*function)(void *, void *, int) = atomic_load(&original);
    if (!function) {
        function = (int (*)(void *, void *, int))dlsym(RTLD_NEXT, "SSL_read");
        if (!function) return -1;
        atomic_store(&original, function);
    }
    int result = function(ssl, bytes, count);
    return current && ssl == mosquitto_ssl_get(current->mosquitto) ? (int)inspected(bytes, result) : result;
}
