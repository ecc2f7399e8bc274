// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// EF.CardAccess: the file in which a travel document lists the protocols that open it, such as PACE (ICAO Doc 9303-11;
/// BSI TR-03110-3). It can be read without a key.
public struct CardAccess: Sendable, Hashable {
    /// The encoded object identifiers of the listed protocols, in order.
    public let protocols: [[UInt8]]

    /// The file identifier. The file is in the master file.
    static let identifier: UInt16 = 0x011C
    /// The longest file that is read. No document needs more.
    static let maximumLength = 1024
    /// 0.4.0.127.0.7.2.2.4, the prefix of all PACE variants.
    private static let pace: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04]

    /// Reads the file: a SET of SEQUENCEs, each of which starts with an object identifier.
    ///
    /// - Parameter bytes: the file. Bytes after the set are ignored.
    /// - Returns: nil when the bytes are something else.
    public init?(_ bytes: [UInt8]) {
        guard let set = BERObject(bytes[...]), set.tag == 0x31 else { return nil }
        var protocols: [[UInt8]] = []
        var rest = set.value
        while !rest.isEmpty {
            guard let entry = BERObject(rest), entry.tag == 0x30, let name = BERObject(entry.value),
                name.tag == 0x06, !name.value.isEmpty
            else { return nil }
            protocols.append(Array(name.value))
            rest = rest[entry.value.endIndex...]
        }
        self.protocols = protocols
    }

    /// Whether the document supports PACE: it lists a variant, with a mapping and a cipher. Domain parameters alone
    /// don't count.
    public var supportsPACE: Bool {
        protocols.contains { $0.starts(with: Self.pace) && $0.count == Self.pace.count + 2 }
    }

    /// Returns the length of the whole file from its first bytes; nil when they aren't those of a set, or too few.
    static func length(of start: [UInt8]) -> Int? {
        guard let header = BERObject.header(start[...]), header.tag == 0x31 else { return nil }
        return header.start + header.length
    }
}

extension APDULink {
    /// Reads EF.CardAccess. Call it before anything else was selected, while the master file is the current one. The
    /// file stays selected.
    ///
    /// - Returns: nil for a card without the file, or with other content in it.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `unsupported`, `readerUnavailable`, `cancelled`.
    public func readCardAccess() async throws(TagError) -> CardAccess? {
        let name = CardAccess.identifier.bigEndianBytes
        // P1 = 02: a file under the current directory; P2 = 0C: without its control information.
        guard try await send(CommandAPDU(0x00, 0xA4, 0x02, 0x0C, data: name)).status == .success else { return nil }
        var bytes: [UInt8] = []
        repeat {
            let answer = try await send(.readBinary(offset: bytes.count, count: 256))
            guard answer.status.isSuccessOrWarning, !answer.data.isEmpty else { return nil }
            bytes += answer.data
            guard let length = CardAccess.length(of: bytes), length <= CardAccess.maximumLength else { return nil }
            if bytes.count >= length { return CardAccess(bytes) }
        } while true
    }
}
