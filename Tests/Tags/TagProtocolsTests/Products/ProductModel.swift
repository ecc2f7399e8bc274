// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// A product that VirtualTags has a model of, formatted for NDEF: tags with any message on them, and readers for them.
struct ProductModel: Sendable, CustomTestStringConvertible {
    let name: String
    let technology: Technology
    /// The longest message.
    let capacity: Int
    /// Whether the tag programs a unit whole or not at all, so that no cut of a write is a window.
    var isProtected = false
    /// Whether a command that is sent twice does the same twice, without a block protocol that counts blocks.
    var isStateless = true
    /// The least time in which a message of so many bytes is detected and read.
    let minimum: @Sendable (Int) -> Airtime
    /// A tag with a message on it.
    let make: @Sendable ([UInt8]) -> any VirtualTag
    /// A tag with what another one keeps without power.
    let copy: @Sendable (any VirtualTag) -> any VirtualTag

    var testDescription: String { name }

    /// All products of all types.
    static let all: [ProductModel] = type1 + type2 + type3 + type4 + type5

    /// The product of a name.
    static func named(_ name: String) throws -> ProductModel {
        try #require(all.first { $0.name == name })
    }
}

/// A field with one tag, activated, and its reader.
struct ProductBench {
    let field = VirtualField()
    let link: any FrameLink
    let reader: any ForumTag

    /// Brings a tag near and activates it, as far as what counts as activation goes.
    init(_ tag: any VirtualTag) async throws {
        field.bring(tag)
        link = try #require(field.link(for: tag.technology))
        reader = try #require(try await Self.activate(link))
        try await reader.prepare()
    }

    private static func activate(_ link: any FrameLink) async throws -> (any ForumTag)? {
        switch link.technology {
        case .nfcA:
            try await NFCAActivation(link: link).activateAll().last.flatMap { makeForumTag(for: $0, link: link) }
        case .nfcB: try await NFCBActivation(link: link).findAll().last.flatMap { makeForumTag(for: $0, link: link) }
        case .nfcF:
            try await NFCFPolling(link: link).poll(systemCode: NFCFTarget.ndefSystemCode).first
                .map { makeForumTag(for: $0.target, link: link) }
        case .nfcV:
            try await NFCVInventory(link: link).findAll().last
                .map { makeForumTag(for: $0, link: link, isAlone: true) }
        }
    }
}

/// The bytes of an NDEF message TLV, with a terminator.
func messageTLV(_ message: [UInt8]) -> [UInt8] {
    let length =
        message.count <= 254
        ? [UInt8(message.count)] : [0xFF, UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
    return [0x03] + length + message + [0xFE]
}

extension [UInt8] {
    /// The same bytes with others in their place from an offset on, as far as there is room, around bytes that are
    /// not for data.
    func placing(_ bytes: [UInt8], at offset: Int, end: Int, around reserved: Range<Int> = 0..<0) -> [UInt8] {
        var result = self
        var address = offset
        for byte in bytes {
            if reserved.contains(address) { address = reserved.upperBound }
            guard address < end else { break }
            result[address] = byte
            address += 1
        }
        return result
    }
}
