// SPDX-License-Identifier: Apache-2.0
#include "card_loop.h"
#include <dlfcn.h>
#include <time.h>

struct io_request { unsigned long protocol, length; };

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

long card_loop(const char *reader, const uint8_t *command, size_t length, size_t count, uint64_t *nanoseconds) {
    void *library = dlopen("libpcsclite.so.1", RTLD_NOW);
    if (!library) return -1;
    long (*establish)(unsigned long, const void *, const void *, long *) = dlsym(library, "SCardEstablishContext");
    long (*release)(long) = dlsym(library, "SCardReleaseContext");
    long (*connect)(long, const char *, unsigned long, unsigned long, long *, unsigned long *) =
        dlsym(library, "SCardConnect");
    long (*disconnect)(long, unsigned long) = dlsym(library, "SCardDisconnect");
    long (*transmit)(long, const struct io_request *, const uint8_t *, unsigned long, struct io_request *, uint8_t *,
                     unsigned long *) = dlsym(library, "SCardTransmit");
    long context, card;
    unsigned long protocol;
    long status = establish(2, 0, 0, &context);
    if (status) return status;
    status = connect(context, reader, 1, 3, &card, &protocol);
    if (!status) {
        struct io_request request = {protocol, sizeof request};
        uint8_t response[65548];
        for (size_t i = 0; i < count && !status; i++) {
            unsigned long received = sizeof response;
            uint64_t start = now();
            status = transmit(card, &request, command, length, 0, response, &received);
            nanoseconds[i] = now() - start;
        }
        disconnect(card, 0);
    }
    release(context);
    return status;
}
