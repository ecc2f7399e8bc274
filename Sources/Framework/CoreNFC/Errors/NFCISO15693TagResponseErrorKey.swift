// SPDX-License-Identifier: Apache-2.0

/// The user info key of the error code that an ISO/IEC 15693 tag reported, as an `Int`.
///
/// ISO/IEC 15693-3, 7.4.2 defines the codes: 0x10 for a block that does not exist, for example. The code of the
/// ``NFCReaderError`` is `readerTransceiveErrorTagResponseError`.
public let NFCISO15693TagResponseErrorKey: String = "ISO15693TagResponseErrorCode"
