// SPDX-License-Identifier: Apache-2.0
import NDEF
import NFCRuntime
import TagLink
import TagProtocols
import VirtualTags

extension TagSpec {
    /// A tag that comes near while another one is there: of the same product, with records that differ in one letter, or a card
    /// with the same script. It is found first where the technology lets the reader choose, so that code which takes the first tag
    /// takes this one.
    ///
    /// - Parameters:
    ///   - tag: the tag that is there, made from this.
    ///   - seed: where a UID comes from that is random.
    func companion(of tag: any VirtualTag, seed: UInt64) async throws(FieldError) -> TagSpec {
        guard let contents = TagContents(of: tag) else {
            // A card with a script has a random UID: one that is found first is soon met.
            for number in 1...64 {
                let other = try await make(seed: seed &+ UInt64(number))
                if other !== tag, Self.comesFirst(other.identifier, before: tag.identifier) { return .tag(other) }
            }
            return "NTAG213"
        }
        let uid = Self.identifier(before: contents.uid, of: tag.technology)
        guard let product = TagProduct(named: contents.product), product.identifierLengths.contains(uid.count) else {
            return tag.technology == .nfcF ? "FeliCa Lite-S" : "NTAG213"
        }
        let other = product.blank(uid: uid)
        // Code that takes the wrong tag is to go on with it, and to end with something else.
        guard let message = try? await TagDesk.read(contents).message, !message.isEmpty else { return .contents(other) }
        for message in [Self.another(message), message] {
            let tag = other.makeTag()
            let isWritten: Void? = try? await TagDesk.with(tag) { tag throws(TagError) in
                try await tag.writeNDEF(message)
            }
            if isWritten != nil, let written = TagContents(of: tag) { return .contents(written) }
        }
        return .contents(other)
    }

    /// A message with one more letter in its first record, such as that of the next card in a drawer.
    private static func another(_ message: [UInt8]) -> [UInt8] {
        guard var records = try? NDEFMessage(decoding: message).records, let first = records.first,
            (try? URIRecord(first)) != nil || (try? TextRecord(first)) != nil
        else { return message }
        records[0] = NDEFRecord(
            first.typeNameFormat,
            type: Array(first.type),
            identifier: Array(first.identifier),
            payload: first.payload + [UInt8(ascii: "2")]
        )
        return (try? NDEFMessage(records).encoded()) ?? message
    }

    /// Whether anticollision of NFC-A finds a UID first: where they first differ it has a 1 (ISO/IEC 14443-3, 6.5.3).
    private static func comesFirst(_ uid: [UInt8], before other: [UInt8]) -> Bool {
        guard let index = zip(uid, other).enumerated().first(where: { $1.0 != $1.1 })?.offset else { return false }
        return uid[index] >> (uid[index] ^ other[index]).trailingZeroBitCount & 1 == 1
    }

    /// Another identifier, which differs in one bit.
    private static func identifier(before uid: [UInt8], of technology: Technology) -> [UInt8] {
        var uid = uid
        switch technology {
        case .nfcA:
            // The first byte names the manufacturer.
            guard let index = uid.indices.dropFirst().first(where: { uid[$0] != 0xFF }) else { return uid }
            uid[index] |= uid[index] &+ 1
        case .nfcB, .nfcF, .nfcV:
            // The slots of an inventory go by the lowest bits, which are in the last byte.
            guard let last = uid.indices.last else { return uid }
            uid[last] = uid[last] & 0x0F == 0 ? uid[last] ^ 0x10 : uid[last] & (uid[last] &- 1)
        }
        return uid
    }
}
