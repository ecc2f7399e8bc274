// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A response of ISO/IEC 15693-3.
public enum ISO15693Response: Sendable, Hashable {
    /// The bytes after the response flags.
    case success([UInt8])
    /// The tag refused with an error code (ISO/IEC 15693-3, 7.4.2).
    case failure(ISO15693ErrorCode)

    /// Reads a response.
    ///
    /// - Parameter frame: the answer. If the link did not check the checksum, as after an EOF, a correct one is
    ///   removed.
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ frame: Frame) throws(TagError) {
        var bytes = frame.bytes
        if frame.checksum == .none, bytes.count > 2 {
            let crc = CyclicRedundancyCheck.b(bytes.dropLast(2))
            if crc.littleEndianBytes == Array(bytes.suffix(2)) { bytes.removeLast(2) }
        }
        guard let flags = bytes.first, frame.validBitsInLastByte == 8 else {
            throw TagError(.badAnswer, "A response has no flags (ISO/IEC 15693-3, 7.4).")
        }
        if flags & 0x01 != 0 {
            self = .failure(ISO15693ErrorCode(rawValue: bytes.count > 1 ? bytes[1] : 0x0F))
        } else {
            self = .success(Array(bytes.dropFirst()))
        }
    }
}
