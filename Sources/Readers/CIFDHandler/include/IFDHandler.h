// SPDX-License-Identifier: Apache-2.0
// The part of the IFD Handler 3.0 interface that this driver implements: the functions that pcscd calls in a reader
// driver. It is declared here, so that the package builds without pcscd's headers. If these headers are installed, a
// test compares every value with theirs.
#ifndef OPENCORENFC_IFD_HANDLER_H
#define OPENCORENFC_IFD_HANDLER_H

// pcsc-lite's DWORD is an unsigned long, of whatever size.
typedef unsigned long IFDWord;
typedef long IFDResult;
typedef unsigned char IFDByte;

typedef struct {
    IFDWord protocol;
    IFDWord length;
} IFDHeader;

// The results of functions.
#define OCN_IFD_SUCCESS 0
#define OCN_IFD_ERROR_TAG 600
#define OCN_IFD_ERROR_SET_FAILURE 601
#define OCN_IFD_PROTOCOL_NOT_SUPPORTED 607
#define OCN_IFD_ERROR_POWER_ACTION 608
#define OCN_IFD_COMMUNICATION_ERROR 612
#define OCN_IFD_RESPONSE_TIMEOUT 613
#define OCN_IFD_NOT_SUPPORTED 614
#define OCN_IFD_ICC_PRESENT 615
#define OCN_IFD_ICC_NOT_PRESENT 616
#define OCN_IFD_NO_SUCH_DEVICE 617
#define OCN_IFD_ERROR_INSUFFICIENT_BUFFER 618

// The actions of IFDHPowerICC.
#define OCN_IFD_POWER_UP 500
#define OCN_IFD_POWER_DOWN 501
#define OCN_IFD_RESET 502

// The tags of IFDHGetCapabilities that are not PC/SC attributes.
#define OCN_TAG_IFD_ATR 0x0303
#define OCN_TAG_IFD_SLOT_THREAD_SAFE 0x0FAC
#define OCN_TAG_IFD_THREAD_SAFE 0x0FAD
#define OCN_TAG_IFD_SLOTS_NUMBER 0x0FAE
#define OCN_TAG_IFD_SIMULTANEOUS_ACCESS 0x0FAF
#define OCN_TAG_IFD_POLLING_THREAD_KILLABLE 0x0FB1
#define OCN_TAG_IFD_STOP_POLLING_THREAD 0x0FB2
#define OCN_TAG_IFD_POLLING_THREAD_WITH_TIMEOUT 0x0FB3
#define OCN_SCARD_ATTR_ATR_STRING 0x00090303
#define OCN_SCARD_ATTR_ICC_PRESENCE 0x00090300

// The longest ATR (ISO/IEC 7816-3, 8.2.1), and the longest command or response APDU that pcscd passes on.
#define OCN_MAX_ATR_SIZE 33
#define OCN_MAX_APDU_SIZE 65548

// The comparison with pcscd's headers leaves out the functions, because their types have other names there.
#ifndef OCN_WITHOUT_FUNCTIONS
// The only symbols that the driver exports.
#pragma GCC visibility push(default)
IFDResult IFDHCreateChannelByName(IFDWord lun, char *name);
IFDResult IFDHCreateChannel(IFDWord lun, IFDWord channel);
IFDResult IFDHCloseChannel(IFDWord lun);
IFDResult IFDHGetCapabilities(IFDWord lun, IFDWord tag, IFDWord *length, IFDByte *value);
IFDResult IFDHSetCapabilities(IFDWord lun, IFDWord tag, IFDWord length, IFDByte *value);
IFDResult IFDHSetProtocolParameters(IFDWord lun, IFDWord protocol, IFDByte flags, IFDByte pts1, IFDByte pts2, IFDByte pts3);
IFDResult IFDHPowerICC(IFDWord lun, IFDWord action, IFDByte *atr, IFDWord *length);
IFDResult IFDHTransmitToICC(IFDWord lun, IFDHeader send, IFDByte *command, IFDWord count, IFDByte *response,
                            IFDWord *responseCount, IFDHeader *receive);
IFDResult IFDHControl(IFDWord lun, IFDWord code, IFDByte *command, IFDWord count, IFDByte *response, IFDWord capacity,
                      IFDWord *responseCount);
IFDResult IFDHICCPresence(IFDWord lun);
#pragma GCC visibility pop
#endif

#endif
