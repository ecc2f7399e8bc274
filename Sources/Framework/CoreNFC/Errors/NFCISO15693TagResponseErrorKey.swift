// SPDX-License-Identifier: Apache-2.0

/// The key under which an ``NFCReaderError`` has the error code of an ISO/IEC 15693 tag, as an `Int`.
///
/// The codes are those of ISO/IEC 15693-3, 7.4.2: 0x10 for a block that does not exist, for instance. The error's own
/// code is `readerTransceiveErrorTagResponseError`.
public let NFCISO15693TagResponseErrorKey: String = "ISO15693TagResponseErrorCode"
