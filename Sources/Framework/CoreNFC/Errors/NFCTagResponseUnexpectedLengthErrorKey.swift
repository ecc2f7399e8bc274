// SPDX-License-Identifier: Apache-2.0

/// The key under which an ``NFCReaderError`` says that a tag's answer has a length that its command does not have.
///
/// It is there when that is so, with the value `true`, and the code is `readerTransceiveErrorTagResponseError`.
public let NFCTagResponseUnexpectedLengthErrorKey: String = "TagResponseInvalidLength"
