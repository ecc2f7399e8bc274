// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The answer to GET SYSTEM INFORMATION (ISO/IEC 15693-3, 10.4.12 and 10.4.21).
public struct ISO15693SystemInfo: Sendable, Hashable {
    /// The UID, starting with E0.
    public var uid: [UInt8]
    /// DSFID, when the tag has one.
    public var dsfid: UInt8?
    /// AFI, when the tag has one.
    public var afi: UInt8?
    /// The number of blocks.
    public var blockCount: Int?
    /// The number of bytes in a block.
    public var blockSize: Int?
    /// The IC reference.
    public var icReference: UInt8?

    /// Reads the answer.
    ///
    /// - Parameters:
    ///   - bytes: the bytes after the response flags.
    ///   - isExtended: whether this is the answer to the extended command, where the block count has two bytes.
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ bytes: [UInt8], isExtended: Bool = false) throws(TagError) {
        guard bytes.count >= 9 else { throw Self.short }
        let flags = bytes[0]
        uid = bytes[1..<9].reversed()
        var rest = bytes[9...]
        func take(_ count: Int) throws(TagError) -> [UInt8] {
            guard rest.count >= count else { throw Self.short }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        if flags & 0x01 != 0 { dsfid = try take(1)[0] }
        if flags & 0x02 != 0 { afi = try take(1)[0] }
        if flags & 0x04 != 0 {
            let size = try take(isExtended ? 3 : 2)
            blockCount = (isExtended ? Int(high: size[1], low: size[0]) : Int(size[0])) + 1
            blockSize = Int(size[isExtended ? 2 : 1] & 0x1F) + 1
        }
        if flags & 0x08 != 0 { icReference = try take(1)[0] }
    }

    private static var short: TagError {
        TagError(.badAnswer, "The system information ends too early (ISO/IEC 15693-3, 10.4.12).")
    }
}
