// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A tag that may contain an NDEF message.
///
/// Connect the session to the tag before a command. Completion handlers are called once, on the session's queue. When
/// the tag is lost, a command fails with `readerTransceiveErrorTagConnectionLost`. Use `restartPolling()` to find the
/// tag again.
public protocol NFCNDEFTag: NSObjectProtocol, NSSecureCoding, NSCopying {
    /// Whether the tag is connected and has not left the field; see ``NFCTag/isAvailable``.
    var isAvailable: Bool { get }

    /// Queries whether the tag is formatted for NDEF and writable, and its capacity.
    ///
    /// - Parameter completionHandler: called with the status, the maximum length of a message in bytes (0 when NDEF is
    ///   not supported), and an error when the tag was lost or is not connected.
    @preconcurrency
    func queryNDEFStatus(completionHandler: @escaping @Sendable (NFCNDEFStatus, Int, (any Error)?) -> Void)

    /// Reads the message.
    ///
    /// - Parameter completionHandler: called with the message, or an error: `ndefReaderSessionErrorZeroLengthMessage`
    ///   when the tag is empty, `readerTransceiveErrorTagResponseError` when the tag is not formatted or the message is
    ///   damaged.
    @preconcurrency
    func readNDEF(completionHandler: @escaping @Sendable (NFCNDEFMessage?, (any Error)?) -> Void)

    /// Writes a message. If the tag is lost during the write, it contains the old message, the new message, or none.
    ///
    /// - Parameters:
    ///   - ndefMessage: the message.
    ///   - completionHandler: called with nil, or an error: `ndefReaderSessionErrorTagNotWritable`,
    ///     `ndefReaderSessionErrorTagSizeTooSmall` (before anything is written),
    ///     `ndefReaderSessionErrorTagUpdateFailure`, `readerTransceiveErrorTagResponseError` when the tag is not formatted,
    ///     or `readerErrorInvalidParameter` when the message can't be encoded.
    @preconcurrency
    func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// Makes the tag read-only, permanently.
    ///
    /// - Parameter completionHandler: called with nil, or an error.
    @preconcurrency
    func writeLock(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
}

/// The NDEF status of a tag.
public enum NFCNDEFStatus: UInt, Sendable {
    /// The tag is not formatted for NDEF.
    case notSupported = 1
    /// The message can be read and written.
    case readWrite = 2
    /// The message can only be read.
    case readOnly = 3
}

// The asynchronous forms are extensions, not requirements, because clients write their own tag classes. They throw the
// error of the completion handler.
extension NFCNDEFTag {
    /// The asynchronous form of ``queryNDEFStatus(completionHandler:)``.
    ///
    /// - Returns: the status, and the maximum length of a message in bytes (0 when NDEF is not supported).
    public func queryNDEFStatus() async throws -> (NFCNDEFStatus, Int) {
        try await withCompletion { queryNDEFStatus(completionHandler: $0) }
    }

    /// The asynchronous form of ``readNDEF(completionHandler:)``.
    public func readNDEF() async throws -> NFCNDEFMessage {
        let message: NFCNDEFMessage? = try await withCompletion { readNDEF(completionHandler: $0) }
        guard let message else { throw NFCReaderError(.readerTransceiveErrorTagResponseError) }
        return message
    }

    /// The asynchronous form of ``writeNDEF(_:completionHandler:)``.
    public func writeNDEF(_ ndefMessage: NFCNDEFMessage) async throws {
        try await withCompletion { writeNDEF(ndefMessage, completionHandler: $0) }
    }

    /// The asynchronous form of ``writeLock(completionHandler:)``.
    public func writeLock() async throws {
        try await withCompletion { writeLock(completionHandler: $0) }
    }
}
