// SPDX-License-Identifier: Apache-2.0

/// What GET SYSTEM INFORMATION says of a tag (ISO/IEC 15693-3, 10.4.12 and 10.4.21).
public struct ISO15693SystemInfo: Sendable, Hashable {
    /// The UID, from E0 on.
    public var uid: [UInt8]
    /// DSFID, when the tag has one.
    public var dsfid: UInt8?
    /// AFI, when the tag has one.
    public var afi: UInt8?
    /// How many blocks the tag has.
    public var blockCount: Int?
    /// How many octets a block has.
    public var blockSize: Int?
    /// The IC reference.
    public var icReference: UInt8?

    /// Reads the answer.
    ///
    /// - Parameters:
    ///   - octets: what follows the response flags.
    ///   - isExtended: whether it is the answer to the extended command, in which the block count has two octets.
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ octets: [UInt8], isExtended: Bool = false) throws(TagError) {
        guard octets.count >= 9 else { throw Self.short }
        let flags = octets[0]
        uid = octets[1..<9].reversed()
        var rest = octets[9...]
        func take(_ count: Int) throws(TagError) -> [UInt8] {
            guard rest.count >= count else { throw Self.short }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        if flags & 0x01 != 0 { dsfid = try take(1)[0] }
        if flags & 0x02 != 0 { afi = try take(1)[0] }
        if flags & 0x04 != 0 {
            let size = try take(isExtended ? 3 : 2)
            blockCount = (isExtended ? Int(size[0]) | Int(size[1]) << 8 : Int(size[0])) + 1
            blockSize = Int(size[isExtended ? 2 : 1] & 0x1F) + 1
        }
        if flags & 0x08 != 0 { icReference = try take(1)[0] }
    }

    private static var short: TagError {
        TagError(.badAnswer, "The system information ends too early (ISO/IEC 15693-3, 10.4.12).")
    }
}
