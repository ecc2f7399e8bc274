// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport CardCryptography NDEF TagLink TagProducts TagProtocols
// support: HostileTag
import TagLink
import TagProtocols

/// The procedures of Type 4 tags and ISO/IEC 7816-4 end for any answers of a card to APDUs.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe runToEnd(start, count) { choice, answers in
        let card = HostileCard(answers, isBare: choice & 1 != 0)
        // Responses of one byte, each with GET RESPONSE: as many as the longest message has bytes. MLe is at least 15.
        // SELECT twice for each of two applications, the container and the file.
        let limit = Type4Tag.maximumMessageLength + Type4Tag.maximumMessageLength / 13 + 16 * 600
        await exercise(Type4Tag(link: card), answers, atMost: limit)
        let tag = Type4Tag(link: card)
        await bounded("format", answers, atMost: 16 * 600) { () throws(TagError) in try await tag.format() }
        await bounded("send", answers, atMost: 2 + 512) { () throws(TagError) in
            try await card.send(CommandAPDU(0x00, 0xCA, 0x9F, 0x7F, expectedLength: 256))
        }
        await bounded("GetVersion", answers, atMost: 3 * 514) { () throws(TagError) in
            try await DESFireVersion.read(from: card)
        }
        // One byte at a time, each with GET RESPONSE.
        await bounded("EF.CardAccess", answers, atMost: 1025 * 514) { () throws(TagError) in
            try await card.readCardAccess()
        }
    }
}

private final class HostileCard: APDULink {
    private let answers: Answers
    /// Whether an answer is the whole response; otherwise it is usually the data of a successful response.
    private let isBare: Bool

    init(_ answers: Answers, isBare: Bool) {
        self.answers = answers
        self.isBare = isBare
    }

    var maximumCommandLength: Int { 65544 }
    var maximumResponseLength: Int { 65538 }
    var statistics: LinkStatistics { LinkStatistics(exchanges: answers.exchanges) }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        let bytes = try answers.next()
        guard !isBare else { return bytes }
        switch apdu[1] {
        case 0xA4, 0xD6, 0xD7: return bytes.count == 2 ? bytes : [0x90, 0x00]
        // At most the requested number of bytes.
        case 0xB0: return bytes.prefix(apdu.last == 0 ? 256 : Int(apdu.last ?? 0)) + [0x90, 0x00]
        default: return bytes + [0x90, 0x00]
        }
    }

    func isPresent() async -> Bool { true }
}
