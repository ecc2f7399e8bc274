// SPDX-License-Identifier: Apache-2.0

/// Messages from the reader to the driver.
enum ReaderMessage {
    /// The first message: the version of the protocol.
    static let hello = message("H", 0, [DriverMessage.version])
    static let inserted = message("I", 0, [])
    static let removed = message("O", 0, [])
    /// The reader leaves in an orderly way, and may come back.
    static let bye = message("B", 0, [])

    /// The answer to a request: a status, and data.
    static func reply(_ reply: EmulatedReader.Reply, to sequence: UInt8) -> [UInt8] {
        switch reply {
        case .done(let bytes): message("R", sequence, [0] + bytes)
        case .noCard: message("R", sequence, [1])
        case .unsupported: message("R", sequence, [2])
        case .failed: message("R", sequence, [3])
        }
    }

    private static func message(_ kind: Unicode.Scalar, _ sequence: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = UInt32(payload.count)
        let header = [UInt8(ascii: kind), sequence] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
        return header + payload
    }
}
