// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The answer to a command of ISO/IEC 7816-4.
///
/// It is returned as the card sent it. When the status word asks for another command (61xx or 6Cxx), the app has to
/// send that command.
public struct NFCISO7816ResponseAPDU {
    /// The first byte of the status word (SW1).
    public var statusWord1: UInt8

    /// The second byte of the status word (SW2).
    public var statusWord2: UInt8

    /// The data before the status word. If there are none, it is nil in an async call, as on a phone, and empty in a
    /// call with a handler.
    public var payload: Data?

    /// Creates an answer, for example for your own card class. Each argument sets the property of the same name.
    public init(statusWord1: UInt8, statusWord2: UInt8, payload: Data?) {
        self.statusWord1 = statusWord1
        self.statusWord2 = statusWord2
        self.payload = payload
    }

    /// Creates an answer.
    ///
    /// - Parameters:
    ///   - statusWord1: the first byte of the status word.
    ///   - statusWord2: the second byte of the status word.
    ///   - payload: the data before the status word.
    @available(*, deprecated, renamed: "init(statusWord1:statusWord2:payload:)")
    public init(statusWord1: UInt8, statusWord2: UInt8, paylaod payload: Data?) {
        self.init(statusWord1: statusWord1, statusWord2: statusWord2, payload: payload)
    }

    /// Splits an answer into data and status word.
    package static func parse(_ bytes: [UInt8]) -> Result<NFCISO7816ResponseAPDU, NFCReaderError> {
        guard bytes.count >= 2 else {
            return .failure(.unexpectedLength("The card's answer has no status word."))
        }
        return .success(
            NFCISO7816ResponseAPDU(
                statusWord1: bytes[bytes.count - 2],
                statusWord2: bytes[bytes.count - 1],
                payload: Data(bytes.dropLast(2))
            )
        )
    }
}
