// SPDX-License-Identifier: Apache-2.0

/// The user info key that marks an answer whose length does not fit its command.
///
/// The key is present only for such an answer. Its value is `true`, and the code of the ``NFCReaderError`` is
/// `readerTransceiveErrorTagResponseError`.
public let NFCTagResponseUnexpectedLengthErrorKey: String = "TagResponseInvalidLength"
