// SPDX-License-Identifier: Apache-2.0
// The functions that pcscd calls. A reader is named by the path of a UNIX socket on which the reader's program listens.
// pcscd's configuration gives the path after the colon of DEVICENAME.
#include "include/IFDHandler.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "ReaderConnection.h"

// pcscd's maximum number of readers (PCSCLITE_MAX_READERS_CONTEXTS).
#define MAX_READERS 16

// The table has one reference to each of its readers.
static ReaderConnection *readers[MAX_READERS];
static pthread_mutex_t tableMutex = PTHREAD_MUTEX_INITIALIZER;

// Returns the reader's slot in the table, or NULL. The caller must have locked the table's mutex.
static ReaderConnection **slotOf(IFDWord lun) {
    for (int index = 0; index < MAX_READERS; index++) {
        if (readers[index] != NULL && readers[index]->lun == lun) return &readers[index];
    }
    return NULL;
}

// Finds a reader and takes a reference, so that the reader stays valid even if it is closed meanwhile. Release it with
// connectionRelease.
static ReaderConnection *acquire(IFDWord lun) {
    pthread_mutex_lock(&tableMutex);
    ReaderConnection **slot = slotOf(lun);
    ReaderConnection *reader = slot == NULL ? NULL : *slot;
    if (reader != NULL) connectionRetain(reader);
    pthread_mutex_unlock(&tableMutex);
    return reader;
}

static bool isOpen(IFDWord lun) {
    pthread_mutex_lock(&tableMutex);
    bool isOpen = slotOf(lun) != NULL;
    pthread_mutex_unlock(&tableMutex);
    return isOpen;
}

// MARK: Channels

IFDResult IFDHCreateChannelByName(IFDWord lun, char *name) {
    if (name == NULL) return OCN_IFD_COMMUNICATION_ERROR;
    const char *colon = strchr(name, ':');
    const char *path = colon != NULL ? colon + 1 : name;
    IFDResult result = OCN_IFD_COMMUNICATION_ERROR;
    pthread_mutex_lock(&tableMutex);
    if (slotOf(lun) == NULL) {
        ReaderConnection **slot = NULL;
        for (int index = 0; index < MAX_READERS && slot == NULL; index++) {
            if (readers[index] == NULL) slot = &readers[index];
        }
        // The reader's program may start later. Until then the reader has no card.
        if (slot != NULL && (*slot = connectionOpen(lun, path)) != NULL) result = OCN_IFD_SUCCESS;
    }
    pthread_mutex_unlock(&tableMutex);
    return result;
}

IFDResult IFDHCreateChannel(IFDWord lun, IFDWord channel) {
    (void)lun;
    (void)channel;
    // A channel number can't name a socket.
    return OCN_IFD_NO_SUCH_DEVICE;
}

IFDResult IFDHCloseChannel(IFDWord lun) {
    pthread_mutex_lock(&tableMutex);
    ReaderConnection **slot = slotOf(lun);
    ReaderConnection *reader = slot == NULL ? NULL : *slot;
    if (slot != NULL) *slot = NULL;
    pthread_mutex_unlock(&tableMutex);
    if (reader == NULL) return OCN_IFD_NO_SUCH_DEVICE;
    connectionClose(reader);
    connectionRelease(reader);
    return OCN_IFD_SUCCESS;
}

// MARK: Presence

IFDResult IFDHICCPresence(IFDWord lun) {
    ReaderConnection *reader = acquire(lun);
    if (reader == NULL) return OCN_IFD_NO_SUCH_DEVICE;
    IFDResult result = OCN_IFD_ICC_NOT_PRESENT;
    pthread_mutex_lock(&reader->mutex);
    if (reader->isUnplugged) {
        result = OCN_IFD_NO_SUCH_DEVICE;
    } else if (connectionPresence(reader)) {
        result = OCN_IFD_ICC_PRESENT;
    }
    pthread_mutex_unlock(&reader->mutex);
    connectionRelease(reader);
    return result;
}

// pcscd calls this repeatedly on a separate thread, and checks the presence after each call.
static IFDResult waitForChange(IFDWord lun, int limit) {
    ReaderConnection *reader = acquire(lun);
    if (reader == NULL) return OCN_IFD_NO_SUCH_DEVICE;
    connectionWait(reader, limit < 0 ? 0 : limit);
    connectionRelease(reader);
    return OCN_IFD_SUCCESS;
}

static IFDResult stopWaiting(IFDWord lun) {
    ReaderConnection *reader = acquire(lun);
    if (reader == NULL) return OCN_IFD_NO_SUCH_DEVICE;
    pthread_mutex_lock(&reader->mutex);
    reader->stopsPolling = true;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->mutex);
    connectionRelease(reader);
    return OCN_IFD_SUCCESS;
}

// MARK: Capabilities

static IFDResult give(const void *bytes, size_t count, IFDWord *length, IFDByte *value) {
    if (*length < count) return OCN_IFD_ERROR_INSUFFICIENT_BUFFER;
    memcpy(value, bytes, count);
    *length = count;
    return OCN_IFD_SUCCESS;
}

static IFDResult giveByte(IFDByte byte, IFDWord *length, IFDByte *value) {
    return give(&byte, 1, length, value);
}

static IFDResult giveFunction(IFDResult (*function)(void), IFDWord *length, IFDByte *value) {
    return give(&function, sizeof function, length, value);
}

static IFDResult giveATR(ReaderConnection *reader, IFDWord *length, IFDByte *value) {
    pthread_mutex_lock(&reader->mutex);
    IFDResult result = give(reader->atr, reader->atrLength, length, value);
    pthread_mutex_unlock(&reader->mutex);
    return result;
}

static IFDResult givePresence(ReaderConnection *reader, IFDWord *length, IFDByte *value) {
    pthread_mutex_lock(&reader->mutex);
    // 2 means a card without power, 4 a card with power (PC/SC part 3, SCARD_ATTR_ICC_PRESENCE).
    IFDByte presence = !reader->hasCard ? 0 : reader->isPowered ? 4 : 2;
    pthread_mutex_unlock(&reader->mutex);
    return giveByte(presence, length, value);
}

// Returns an attribute of a reader.
static IFDResult giveAttribute(ReaderConnection *reader, IFDWord tag, IFDWord *length, IFDByte *value) {
    if (tag == OCN_TAG_IFD_ATR || tag == OCN_SCARD_ATTR_ATR_STRING) return giveATR(reader, length, value);
    if (tag == OCN_SCARD_ATTR_ICC_PRESENCE) return givePresence(reader, length, value);
    // A PC/SC attribute has a class in its upper 16 bits. The other tags are specific to pcscd.
    if (tag >> 16 == 0) return OCN_IFD_ERROR_TAG;
    uint8_t name[4] = {(uint8_t)(tag >> 24), (uint8_t)(tag >> 16), (uint8_t)(tag >> 8), (uint8_t)tag};
    IFDResult result =
        connectionCall(reader, MESSAGE_ATTRIBUTE, name, sizeof name, NULL, 0, value, length, LIMIT_POWER);
    return result == OCN_IFD_NOT_SUPPORTED ? OCN_IFD_ERROR_TAG : result;
}

IFDResult IFDHGetCapabilities(IFDWord lun, IFDWord tag, IFDWord *length, IFDByte *value) {
    if (length == NULL || value == NULL) return OCN_IFD_COMMUNICATION_ERROR;
    switch (tag) {
    case OCN_TAG_IFD_SIMULTANEOUS_ACCESS: return giveByte(MAX_READERS, length, value);
    case OCN_TAG_IFD_THREAD_SAFE: return giveByte(1, length, value);
    case OCN_TAG_IFD_SLOTS_NUMBER: return giveByte(1, length, value);
    case OCN_TAG_IFD_SLOT_THREAD_SAFE: return giveByte(0, length, value);
    case OCN_TAG_IFD_POLLING_THREAD_KILLABLE: return giveByte(0, length, value);
    case OCN_TAG_IFD_POLLING_THREAD_WITH_TIMEOUT:
        return giveFunction((IFDResult(*)(void))waitForChange, length, value);
    case OCN_TAG_IFD_STOP_POLLING_THREAD: return giveFunction((IFDResult(*)(void))stopWaiting, length, value);
    default: break;
    }
    ReaderConnection *reader = acquire(lun);
    IFDResult result = OCN_IFD_ERROR_TAG;
    if (reader != NULL) {
        result = giveAttribute(reader, tag, length, value);
        connectionRelease(reader);
    }
    if (result != OCN_IFD_SUCCESS) *length = 0;
    return result;
}

IFDResult IFDHSetCapabilities(IFDWord lun, IFDWord tag, IFDWord length, IFDByte *value) {
    (void)tag;
    (void)length;
    (void)value;
    return !isOpen(lun) ? OCN_IFD_NO_SUCH_DEVICE : OCN_IFD_NOT_SUPPORTED;
}

IFDResult IFDHSetProtocolParameters(IFDWord lun, IFDWord protocol, IFDByte flags, IFDByte pts1, IFDByte pts2, IFDByte pts3) {
    (void)flags;
    (void)pts1;
    (void)pts2;
    (void)pts3;
    if (!isOpen(lun)) return OCN_IFD_NO_SUCH_DEVICE;
    // Contactless cards only exchange APDUs, so T=0 and T=1 are the same.
    return protocol == 1 || protocol == 2 ? OCN_IFD_SUCCESS : OCN_IFD_PROTOCOL_NOT_SUPPORTED;
}

// MARK: Cards

// Switches a card's power off, on, or off and on again, and stores the card's ATR.
static IFDResult setPower(ReaderConnection *reader, IFDWord action, IFDByte *atr, IFDWord *length) {
    if (atr == NULL || length == NULL) return OCN_IFD_COMMUNICATION_ERROR;
    uint8_t order = 0;
    switch (action) {
    case OCN_IFD_POWER_DOWN: break;
    case OCN_IFD_POWER_UP: order = 1; break;
    case OCN_IFD_RESET: order = 2; break;
    default: return OCN_IFD_NOT_SUPPORTED;
    }
    *length = 0;
    uint8_t answer[OCN_MAX_ATR_SIZE];
    IFDWord answerLength = sizeof answer;
    pthread_mutex_lock(&reader->mutex);
    unsigned generation = reader->generation;
    reader->isPowered = false;
    reader->atrLength = 0;
    pthread_mutex_unlock(&reader->mutex);
    IFDResult result = connectionCall(reader, MESSAGE_POWER, &order, 1, NULL, 0, answer, &answerLength, LIMIT_POWER);
    if (result == OCN_IFD_NO_SUCH_DEVICE) return result;
    if (order == 0) return OCN_IFD_SUCCESS;
    if (result != OCN_IFD_SUCCESS || answerLength == 0) return OCN_IFD_ERROR_POWER_ACTION;
    pthread_mutex_lock(&reader->mutex);
    bool isSameCard = generation == reader->generation;
    if (isSameCard) {
        reader->isPowered = true;
        reader->atrLength = answerLength;
        memcpy(reader->atr, answer, answerLength);
    }
    pthread_mutex_unlock(&reader->mutex);
    if (!isSameCard) return OCN_IFD_ERROR_POWER_ACTION;
    memcpy(atr, answer, answerLength);
    *length = answerLength;
    return OCN_IFD_SUCCESS;
}

IFDResult IFDHPowerICC(IFDWord lun, IFDWord action, IFDByte *atr, IFDWord *length) {
    ReaderConnection *reader = acquire(lun);
    if (reader == NULL) return OCN_IFD_NO_SUCH_DEVICE;
    IFDResult result = setPower(reader, action, atr, length);
    connectionRelease(reader);
    return result;
}

static IFDResult transmit(ReaderConnection *reader, IFDByte *command, IFDWord count, IFDByte *response,
                          IFDWord *responseCount) {
    pthread_mutex_lock(&reader->mutex);
    bool isPowered = reader->hasCard && reader->isPowered;
    bool isUnplugged = reader->isUnplugged;
    pthread_mutex_unlock(&reader->mutex);
    IFDWord capacity = *responseCount;
    *responseCount = 0;
    if (isUnplugged) return OCN_IFD_NO_SUCH_DEVICE;
    if (!isPowered) return OCN_IFD_ICC_NOT_PRESENT;
    *responseCount = capacity;
    return connectionCall(reader, MESSAGE_TRANSMIT, NULL, 0, command, count, response, responseCount, LIMIT_TRANSMIT);
}

IFDResult IFDHTransmitToICC(IFDWord lun, IFDHeader send, IFDByte *command, IFDWord count, IFDByte *response,
                            IFDWord *responseCount, IFDHeader *receive) {
    if (responseCount == NULL) return OCN_IFD_COMMUNICATION_ERROR;
    if (command == NULL || response == NULL || count > OCN_MAX_APDU_SIZE) {
        *responseCount = 0;
        return OCN_IFD_COMMUNICATION_ERROR;
    }
    ReaderConnection *reader = acquire(lun);
    if (reader == NULL) {
        *responseCount = 0;
        return OCN_IFD_NO_SUCH_DEVICE;
    }
    IFDResult result = transmit(reader, command, count, response, responseCount);
    connectionRelease(reader);
    if (result == OCN_IFD_SUCCESS && receive != NULL) {
        receive->protocol = send.protocol;
        receive->length = sizeof *receive;
    }
    return result;
}

IFDResult IFDHControl(IFDWord lun, IFDWord code, IFDByte *command, IFDWord count, IFDByte *response, IFDWord capacity,
                      IFDWord *responseCount) {
    if (responseCount == NULL) return OCN_IFD_COMMUNICATION_ERROR;
    *responseCount = 0;
    if (count > OCN_MAX_APDU_SIZE || (command == NULL && count > 0) || (response == NULL && capacity > 0)) {
        return OCN_IFD_COMMUNICATION_ERROR;
    }
    ReaderConnection *reader = acquire(lun);
    if (reader == NULL) return OCN_IFD_NO_SUCH_DEVICE;
    uint8_t name[4] = {(uint8_t)(code >> 24), (uint8_t)(code >> 16), (uint8_t)(code >> 8), (uint8_t)code};
    *responseCount = capacity;
    IFDResult result = connectionCall(reader, MESSAGE_CONTROL, name, sizeof name, command, count, response, responseCount,
                                      LIMIT_TRANSMIT);
    connectionRelease(reader);
    return result;
}
