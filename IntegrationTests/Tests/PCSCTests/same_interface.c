// SPDX-License-Identifier: Apache-2.0
// Only compiled, not run: checks that the driver declares pcscd's interface as pcscd's own headers do.
#include <stddef.h>
#include <wintypes.h>
#include <ifdhandler.h>
#include <pcsclite.h>
#include <reader.h>
#define OCN_WITHOUT_FUNCTIONS
#include "../../../Sources/Readers/CIFDHandler/include/IFDHandler.h"

#define SAME(name) _Static_assert(OCN_##name == name, #name)
SAME(IFD_SUCCESS);
SAME(IFD_ERROR_TAG);
SAME(IFD_ERROR_SET_FAILURE);
SAME(IFD_PROTOCOL_NOT_SUPPORTED);
SAME(IFD_ERROR_POWER_ACTION);
SAME(IFD_COMMUNICATION_ERROR);
SAME(IFD_RESPONSE_TIMEOUT);
SAME(IFD_NOT_SUPPORTED);
SAME(IFD_ICC_PRESENT);
SAME(IFD_ICC_NOT_PRESENT);
SAME(IFD_NO_SUCH_DEVICE);
SAME(IFD_ERROR_INSUFFICIENT_BUFFER);
SAME(IFD_POWER_UP);
SAME(IFD_POWER_DOWN);
SAME(IFD_RESET);
SAME(TAG_IFD_ATR);
SAME(TAG_IFD_SLOT_THREAD_SAFE);
SAME(TAG_IFD_THREAD_SAFE);
SAME(TAG_IFD_SLOTS_NUMBER);
SAME(TAG_IFD_SIMULTANEOUS_ACCESS);
SAME(TAG_IFD_POLLING_THREAD_KILLABLE);
SAME(TAG_IFD_STOP_POLLING_THREAD);
SAME(TAG_IFD_POLLING_THREAD_WITH_TIMEOUT);
SAME(SCARD_ATTR_ATR_STRING);
SAME(SCARD_ATTR_ICC_PRESENCE);
SAME(MAX_ATR_SIZE);
_Static_assert(OCN_MAX_APDU_SIZE == MAX_BUFFER_SIZE_EXTENDED, "the longest APDU");
_Static_assert(sizeof(IFDWord) == sizeof(DWORD), "DWORD");
_Static_assert(sizeof(IFDResult) == sizeof(RESPONSECODE), "RESPONSECODE");
_Static_assert(sizeof(IFDHeader) == sizeof(SCARD_IO_HEADER), "SCARD_IO_HEADER");
_Static_assert(offsetof(IFDHeader, length) == offsetof(SCARD_IO_HEADER, Length), "Length");
