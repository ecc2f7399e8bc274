// SPDX-License-Identifier: Apache-2.0
import NDEF
import NFCSessions
import TagLink
import TagProtocols
import VirtualTags

extension TagSpec {
    /// A second tag that comes near while another one is near. It has the same product, and records that differ in one
    /// letter; or it is a card with the same script. If the technology lets the reader choose, the reader finds this
    /// tag first, so code that takes the first tag takes this one.
    ///
    /// - Parameters:
    ///   - tag: the first tag, made from this description.
    ///   - seed: the source of a random UID.
    func companion(of tag: any VirtualTag, seed: UInt64) async throws(FieldError) -> TagSpec {
        guard let contents = TagContents(of: tag) else {
            // A card with a script has a random UID. A UID that is found first comes after a few tries.
            for number in 1...64 {
                let other = try await make(seed: seed &+ UInt64(number))
                if other !== tag, Self.comesFirst(other.identifier, before: tag.identifier) { return .tag(other) }
            }
            return "NTAG213"
        }
        let uid = Self.identifier(before: contents.uid, of: tag.technology)
        // The contents of a Type 4B tag have the name of a Type 4A tag's.
        let products = [contents.product, contents.product + "B"].lazy.compactMap { TagProduct(named: $0) }
        let product = products.first { product in
            product.identifierLengths.contains(uid.count)
                && product.blank(uid: uid).makeTag().technology == tag.technology
        }
        guard let product else {
            return tag.technology == .nfcF ? "FeliCa Lite-S" : "NTAG213"
        }
        let other = product.blank(uid: uid)
        // With records that differ, code that takes the wrong tag continues and ends with a different result.
        guard let message = try? await contents.readNDEF().message, !message.isEmpty else { return .contents(other) }
        for message in [Self.another(message), message] {
            let tag = other.makeTag()
            let isWritten: Void? = try? await withActivatedTag(in: tag) { tag throws(TagError) in
                try await tag.writeNDEF(message)
            }
            if isWritten != nil, let written = TagContents(of: tag) { return .contents(written) }
        }
        return .contents(other)
    }

    /// A message with one more letter in its first record, like that of the next card in a drawer.
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

    /// Whether the anticollision of NFC-A finds a UID first: the UID has a 1 in the first bit that differs (ISO/IEC
    /// 14443-3, 6.5.3).
    private static func comesFirst(_ uid: [UInt8], before other: [UInt8]) -> Bool {
        guard let index = zip(uid, other).enumerated().first(where: { $1.0 != $1.1 })?.offset else { return false }
        return uid[index] >> (uid[index] ^ other[index]).trailingZeroBitCount & 1 == 1
    }

    /// Another identifier, which differs in one bit.
    private static func identifier(before uid: [UInt8], of technology: Technology) -> [UInt8] {
        var uid = uid
        switch technology {
        case .nfcA:
            // The first byte is the manufacturer.
            guard let index = uid.indices.dropFirst().first(where: { uid[$0] != 0xFF }) else { return uid }
            uid[index] |= uid[index] &+ 1
        case .nfcB, .nfcF, .nfcV:
            // The slots of an inventory depend on the lowest bits, which are in the last byte.
            guard let last = uid.indices.last else { return uid }
            uid[last] = uid[last] & 0x0F == 0 ? uid[last] ^ 0x10 : uid[last] & (uid[last] &- 1)
        }
        return uid
    }
}
