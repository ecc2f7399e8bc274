// SPDX-License-Identifier: Apache-2.0
// The program that dev/check-driver runs under sanitizers. Fake readers, each with its own thread and socket, serve
// threads that call the driver as pcscd does. Fails if a call returns more than its buffer holds, or if hardly any
// command succeeds.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "../Fuzz/Support/SocketPeer.h"
#include "../Sources/Readers/CIFDHandler/ReaderConnection.h"

#define CALLERS 3
#define CALLS 12

static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "check-driver: %s\n", what);
    exit(1);
}

// MARK: The reader

// How a reader behaves. Except for WRONG_GREETING, it first sends a valid greeting.
typedef enum { HONEST, FLOODS, SILENT, LEAVES, CUTS, TOO_LONG, OLD_NUMBERS, GARBAGE, WRONG_GREETING, BEHAVIOURS } Behaviour;

typedef struct {
    Behaviour behaviour;
    int listener;
    atomic_bool ends;
    atomic_int connection;
} Reader;

static bool receiveAll(int socket, uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = recv(socket, bytes, length, 0);
        if (count <= 0) return false;
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}

static bool say(int socket, uint8_t kind, uint8_t sequence, const uint8_t *payload, uint32_t length) {
    uint8_t header[HEADER_SIZE] = {kind, sequence, (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8),
                                   (uint8_t)length};
    return sendAll(socket, header, sizeof header) && sendAll(socket, payload, length);
}

// Sends a valid reply: the ATR for a power command, otherwise the request echoed with status word 90 00.
static bool answer(int socket, const uint8_t *header, const uint8_t *question, size_t length) {
    static const uint8_t atr[] = {STATUS_DONE, 0x3B, 0x80, 0x80, 0x01, 0x01};
    if (header[0] == MESSAGE_POWER) return say(socket, MESSAGE_REPLY, header[1], atr, sizeof atr);
    uint8_t *reply = malloc(length + 3);
    reply[0] = STATUS_DONE;
    memcpy(reply + 1, question, length);
    reply[length + 1] = 0x90;
    reply[length + 2] = 0x00;
    bool isSent = say(socket, MESSAGE_REPLY, header[1], reply, (uint32_t)length + 3);
    free(reply);
    return isSent;
}

// Answers one request according to the behaviour. Returns whether to keep the connection.
static bool behave(Behaviour behaviour, int socket, const uint8_t *header, const uint8_t *question, size_t length, int number) {
    // The first two requests are always answered, so that the card is powered up.
    if (number >= 2) {
        switch (behaviour) {
        case SILENT: return true;
        case LEAVES: return say(socket, MESSAGE_BYE, 0, NULL, 0) && false;
        case CUTS: {
            uint8_t half[] = {MESSAGE_REPLY, header[1], 0, 0, 1};
            return sendAll(socket, half, sizeof half) && false;
        }
        case TOO_LONG: {
            uint8_t head[] = {MESSAGE_REPLY, header[1], 0xFF, 0xFF, 0xFF, 0xFF, 0};
            return sendAll(socket, head, sizeof head);
        }
        case OLD_NUMBERS: {
            uint8_t status = STATUS_DONE;
            say(socket, MESSAGE_REPLY, (uint8_t)(header[1] - 1), &status, 1);
            say(socket, MESSAGE_REPLY, header[1], &status, 1);
            return answer(socket, header, question, length);
        }
        case GARBAGE: {
            uint8_t garbage[64];
            for (size_t index = 0; index < sizeof garbage; index++) garbage[index] = (uint8_t)(index * 37 + (size_t)number);
            return sendAll(socket, garbage, sizeof garbage);
        }
        default: break;
        }
    }
    // Flood only during the first requests; a flood in every call would take too long.
    if (behaviour == FLOODS && number < 5) {
        for (int count = 0; count < 20; count++) {
            if (!say(socket, count % 2 == 0 ? MESSAGE_REMOVED : MESSAGE_INSERTED, 0, NULL, 0)) return false;
        }
    }
    return answer(socket, header, question, length);
}

static void serveDriver(Reader *reader, int socket) {
    uint8_t version = reader->behaviour == WRONG_GREETING ? PROTOCOL_VERSION + 1 : PROTOCOL_VERSION;
    uint8_t header[HEADER_SIZE];
    uint8_t *question = malloc(MAX_PAYLOAD);
    bool keepsOpen = say(socket, MESSAGE_HELLO, 0, &version, 1) && receiveAll(socket, header, HEADER_SIZE) &&
                     receiveAll(socket, question, 1) && say(socket, MESSAGE_INSERTED, 0, NULL, 0);
    for (int number = 0; keepsOpen && receiveAll(socket, header, HEADER_SIZE); number++) {
        size_t length = (size_t)header[2] << 24 | (size_t)header[3] << 16 | (size_t)header[4] << 8 | header[5];
        require(length <= MAX_PAYLOAD, "the driver sends a request that is too long");
        keepsOpen = receiveAll(socket, question, length) &&
                    behave(reader->behaviour, socket, header, question, length, number);
    }
    free(question);
}

static void *runReader(void *context) {
    Reader *reader = context;
    while (!atomic_load(&reader->ends)) {
        int socket = accept4(reader->listener, NULL, NULL, SOCK_CLOEXEC);
        if (socket < 0) break;
        atomic_store(&reader->connection, socket);
        if (!atomic_load(&reader->ends)) serveDriver(reader, socket);
        atomic_store(&reader->connection, -1);
        close(socket);
    }
    return NULL;
}

static int listenAt(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    require(strlen(path) < sizeof address.sun_path, "the folder's path is too long");
    strcpy(address.sun_path, path);
    unlink(path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 4) == 0,
            "can't create a socket");
    return listener;
}

// MARK: pcscd

static atomic_int transmitted;

typedef struct {
    IFDWord lun;
    unsigned seed;
} Caller;

static void callOnce(IFDWord lun, unsigned *seed) {
    uint8_t atr[OCN_MAX_ATR_SIZE];
    uint8_t command[300] = {0x00, 0xA4, 0x04, 0x00};
    // The buffer is exactly as large as the driver is told, so that the sanitizer detects writes past its end.
    IFDWord capacity = (IFDWord)(rand_r(seed) % 2 == 0 ? 400 : rand_r(seed) % 20);
    uint8_t *response = malloc(capacity > 0 ? capacity : 1);
    IFDWord length = capacity;
    IFDWord atrLength = sizeof atr;
    IFDHeader header = {.protocol = 1, .length = sizeof header};
    switch (rand_r(seed) % 8) {
    case 0: IFDHPowerICC(lun, rand_r(seed) % 3 == 0 ? OCN_IFD_RESET : OCN_IFD_POWER_UP, atr, &atrLength); break;
    case 1: IFDHICCPresence(lun); break;
    case 2: IFDHGetCapabilities(lun, OCN_TAG_IFD_ATR, &length, response); break;
    case 3: IFDHGetCapabilities(lun, 0x00010100, &length, response); break;
    case 4: IFDHControl(lun, 0x42000D48, command, 40, response, capacity, &length); break;
    default: {
        IFDResult result =
            IFDHTransmitToICC(lun, header, command, (IFDWord)(4 + rand_r(seed) % 290), response, &length, &header);
        if (result == OCN_IFD_SUCCESS) atomic_fetch_add(&transmitted, 1);
        break;
    }
    }
    require(length <= capacity && atrLength <= sizeof atr, "an answer is longer than its buffer");
    free(response);
}

static void *runCaller(void *context) {
    Caller *caller = context;
    for (int count = 0; count < CALLS; count++) callOnce(caller->lun, &caller->seed);
    return NULL;
}

// Acts as pcscd's thread that waits for changes.
static void *runWatcher(void *context) {
    IFDWord lun = *(IFDWord *)context;
    IFDResult (*wait)(IFDWord, int) = NULL;
    IFDWord length = sizeof wait;
    IFDHGetCapabilities(lun, OCN_TAG_IFD_POLLING_THREAD_WITH_TIMEOUT, &length, (IFDByte *)&wait);
    require(wait != NULL, "the driver has no function that waits for changes");
    while (wait(lun, 20) == OCN_IFD_SUCCESS) IFDHICCPresence(lun);
    return NULL;
}

// Waits until the reader has a card, at most about half a second. A reader without a valid greeting never gets one.
static void waitForCard(IFDWord lun) {
    for (int count = 0; count < 500 && IFDHICCPresence(lun) != OCN_IFD_ICC_PRESENT; count++) usleep(1000);
}

static void meet(Behaviour behaviour, int round, const char *folder) {
    char name[200];
    snprintf(name, sizeof name, "/dev/null:%s/reader%d.sock", folder, behaviour);
    const char *path = strchr(name, ':') + 1;
    Reader reader = {.behaviour = behaviour, .listener = listenAt(path)};
    atomic_init(&reader.connection, -1);
    pthread_t readerThread, watcher, callers[CALLERS];
    require(pthread_create(&readerThread, NULL, runReader, &reader) == 0, "can't create a thread");

    IFDWord lun = 0x10000 * (IFDWord)behaviour;
    require(IFDHCreateChannelByName(lun, name) == OCN_IFD_SUCCESS, "the reader can't be opened");
    require(pthread_create(&watcher, NULL, runWatcher, &lun) == 0, "can't create a thread");
    if (behaviour != WRONG_GREETING) waitForCard(lun);
    uint8_t atr[OCN_MAX_ATR_SIZE];
    IFDWord length = sizeof atr;
    IFDHPowerICC(lun, OCN_IFD_POWER_UP, atr, &length);
    Caller contexts[CALLERS];
    for (int index = 0; index < CALLERS; index++) {
        contexts[index] = (Caller){.lun = lun, .seed = (unsigned)(round * 1000 + behaviour * 10 + index)};
        require(pthread_create(&callers[index], NULL, runCaller, &contexts[index]) == 0, "can't create a thread");
    }
    // In odd rounds the reader is closed during calls. A reader that does not answer is always closed during calls.
    if (round % 2 == 0 && behaviour != SILENT && behaviour != GARBAGE) {
        for (int index = 0; index < CALLERS; index++) pthread_join(callers[index], NULL);
    } else {
        usleep((useconds_t)(round % 7) * 1000);
    }
    require(IFDHCloseChannel(lun) == OCN_IFD_SUCCESS, "the reader can't be closed");
    require(IFDHCloseChannel(lun) == OCN_IFD_NO_SUCH_DEVICE, "a reader can be closed twice");
    if (round % 2 != 0 || behaviour == SILENT || behaviour == GARBAGE) {
        for (int index = 0; index < CALLERS; index++) pthread_join(callers[index], NULL);
    }
    pthread_join(watcher, NULL);
    atomic_store(&reader.ends, true);
    shutdown(reader.listener, SHUT_RDWR);
    pthread_join(readerThread, NULL);
    close(reader.listener);
    unlink(path);
}

typedef struct {
    Behaviour behaviour;
    int rounds;
    const char *folder;
} Run;

static void *runBehaviour(void *context) {
    Run *run = context;
    for (int round = 0; round < run->rounds; round++) meet(run->behaviour, round, run->folder);
    return NULL;
}

int main(int count, char **words) {
    require(count == 3, "usage: check-driver ROUNDS FOLDER");
    require(chmod(words[2], 0700) == 0, "the folder can't be made private");
    pthread_t threads[BEHAVIOURS];
    Run runs[BEHAVIOURS];
    for (int index = 0; index < BEHAVIOURS; index++) {
        runs[index] = (Run){.behaviour = (Behaviour)index, .rounds = atoi(words[1]), .folder = words[2]};
        require(pthread_create(&threads[index], NULL, runBehaviour, &runs[index]) == 0, "can't create a thread");
    }
    for (int index = 0; index < BEHAVIOURS; index++) pthread_join(threads[index], NULL);
    require(atomic_load(&transmitted) > atoi(words[1]), "hardly any command was answered");
    printf("%d kinds of readers, %s rounds, %d APDUs answered\n", BEHAVIOURS, words[1], atomic_load(&transmitted));
    return 0;
}
