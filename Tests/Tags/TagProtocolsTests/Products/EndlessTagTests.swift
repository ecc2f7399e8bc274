// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import TagProtocols
import Testing

/// A tag that answers every request by a rule, without end.
private final class EndlessTag: FrameLink {
    let technology: Technology
    let maximumFrameLength = 256
    private let state = Mutex(LinkStatistics())
    private let rule: @Sendable ([UInt8], Int) -> [UInt8]?

    /// - Parameter rule: gets a request's bytes and the number of exchanges before it; nil is silence.
    init(_ technology: Technology, _ rule: @escaping @Sendable ([UInt8], Int) -> [UInt8]?) {
        self.technology = technology
        self.rule = rule
    }

    var statistics: LinkStatistics { state.withLock { $0 } }
    var exchanges: Int { statistics.exchanges }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let answer = rule(frame.bytes, exchanges).map { Frame($0, checksum: frame.checksum) }
        state.withLock {
            $0.count(request: frame, response: answer, timing: FrameTiming(technology), timeout: timeout)
        }
        guard let answer else { throw LinkError(.timeout, "silence") }
        return answer
    }
}

/// Tags that break a rule on purpose: each ends soon, with an error that names the rule.
@Suite struct `Tags that go on for ever, or lie` {
    static let ats: [UInt8] = [0x05, 0x78, 0x80, 0x70, 0x02]

    /// Asks a card whose blocks follow a rule, once it has been activated with an ATS.
    private func ask(
        ats: [UInt8] = Self.ats,
        _ command: [UInt8] = [0x00, 0xB0, 0x00, 0x00, 0x0F],
        atMost limit: Int,
        naming rule: String,
        _ blocks: @escaping @Sendable ([UInt8], Int) -> [UInt8]?
    ) async {
        let link = EndlessTag(.nfcA) { $0.first == 0xE0 ? ats : blocks($0, $1) }
        let card = ISODEP(link: link)
        do throws(LinkError) {
            let response = try await card.transmit(command)
            Issue.record("a response of \(response.count) bytes")
        } catch {
            #expect(error.reason.contains(rule), "\(error)")
            #expect(error.code == .protocolViolation, "\(error)")
        }
        #expect(link.exchanges <= limit, "\(link.exchanges) exchanges")
    }

    @Test func `A card that chains without end`() async {
        // The response exceeds the limit of a command without extended length: 4096 bytes, at most one per block.
        await ask(atMost: 4099, naming: "ISO/IEC 7816-4, 5.1") { request, _ in
            [request[0] & 1 == 0 ? 0x12 : 0x13, 0x41]
        }
        await ask(atMost: 20, naming: "ISO/IEC 7816-4, 5.1") { request, _ in
            [request[0] & 1 == 0 ? 0x12 : 0x13] + [UInt8](repeating: 0x41, count: 253)
        }
    }

    @Test func `A card that chains empty blocks, which would go on without growing`() async {
        await ask(atMost: 2, naming: "ISO/IEC 14443-4, 7.5.2") { request, _ in [request[0] & 1 == 0 ? 0x12 : 0x13] }
    }

    @Test func `A card that asks for more time without end, or for no time`() async {
        await ask(atMost: 131, naming: "ISO/IEC 14443-4, 7.3") { _, _ in [0xF2, 0x01] }
        await ask(atMost: 5, naming: "ISO/IEC 14443-4, 7.3") { _, _ in [0xF2, 0x00] }
        await ask(atMost: 5, naming: "ISO/IEC 14443-4, 7.3") { _, _ in [0xF2, 0x3F] }
    }

    @Test func `A card that acknowledges, repeats or answers nothing`() async {
        await ask(atMost: 5, naming: "ISO/IEC 14443-4, 7.5") { request, _ in [0xA2 | request[0] & 1] }
        await ask(atMost: 5, naming: "ISO/IEC 14443-4, 7.5") { request, _ in [0xA2 | ~request[0] & 1] }
        await ask(atMost: 5, naming: "ISO/IEC 14443-4, 7.1") { _, _ in [] }
        await ask(atMost: 5, naming: "ISO/IEC 14443-4, 7.1") { _, _ in [0x00] }
        await ask(atMost: 5, naming: "ISO/IEC 14443-4, 7.1") { _, _ in [0xC2] }
        await ask(atMost: 5, naming: "ISO/IEC 14443-4, 7.5.4") { request, _ in [0x02 | ~request[0] & 1, 0x90, 0x00] }
    }

    /// ATSs that say more than they have, less than they are, or nothing.
    @Test(arguments: ["0678807002", "0478807002", "", "00", "0270", "0378", "ff78807002"])
    func `An ATS that lies about its length`(_ ats: String) async {
        await ask(ats: bytes(ats), atMost: 1, naming: "ISO/IEC 14443-4, 5.2") { _, _ in [0x02, 0x90, 0x00] }
    }

    @Test func `FWI 15 is reserved and stands for 4, and SFGI 15 for 0`() async throws {
        let link = EndlessTag(.nfcA) { request, _ in request[0] == 0xE0 ? bytes("057880ff02") : [0x02, 0x90, 0x00] }
        let card = ISODEP(link: link)
        _ = try await card.transmit([0x00, 0xA4, 0x04, 0x00])
        #expect(card.parameters.frameWaitingTime == ISODEPParameters.frameWaitingTime(index: 4))
        #expect(card.answerToSelect?.startUpGuardTime == .zero)
        // FSCI 15 is reserved too, and a frame of FSCI 0 has 16 bytes.
        #expect(ISODEPParameters.frameSize(index: 15) == 256)
    }

    @Test func `A card with FWI 15 that does not answer is given up soon`() async {
        let link = EndlessTag(.nfcA) { request, _ in request[0] == 0xE0 ? bytes("057880ff02") : nil }
        let card = ISODEP(link: link)
        await #expect(throws: LinkError(.timeout, "")) { try await card.transmit([0x00, 0xA4, 0x04, 0x00]) }
        #expect(link.statistics.airtime < .milliseconds(50))
    }

    /// A card above ISO-DEP.
    private final class EndlessCard: APDULink {
        let count = Mutex(0)
        private let rule: @Sendable ([UInt8], Int) -> [UInt8]

        init(_ rule: @escaping @Sendable ([UInt8], Int) -> [UInt8]) {
            self.rule = rule
        }

        var maximumCommandLength: Int { 65544 }
        var maximumResponseLength: Int { 65538 }
        var statistics: LinkStatistics { LinkStatistics(exchanges: count.withLock { $0 }) }

        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
            let before = count.withLock { count in
                count += 1
                return count - 1
            }
            return rule(apdu, before)
        }

        func isPresent() async -> Bool { true }
    }

    /// Reads a tag and expects an error.
    private func fails(
        _ tag: any ForumTag,
        _ code: TagError.Code,
        naming rule: String,
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        do throws(TagError) {
            let message = try await tag.readNDEF()
            Issue.record("a message of \(message.count) bytes", sourceLocation: sourceLocation)
        } catch {
            #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
            #expect(error.reason.contains(rule), "\(error)", sourceLocation: sourceLocation)
        }
    }

    @Test func `A card with endless data for GET RESPONSE`() async {
        let card = EndlessCard { _, _ in [0x41, 0x61, 0x01] }
        await fails(Type4Tag(link: card), .badAnswer, naming: "ISO/IEC 7816-4, 5.3.4")
        #expect(card.statistics.exchanges <= 514)
        let empty = EndlessCard { _, _ in [0x61, 0x01] }
        await fails(Type4Tag(link: empty), .badAnswer, naming: "ISO/IEC 7816-4, 5.3.4")
        #expect(empty.statistics.exchanges == 2)
        let none = EndlessCard { _, _ in [] }
        await fails(Type4Tag(link: none), .badAnswer, naming: "ISO/IEC 7816-4, 5.1")
        #expect(none.statistics.exchanges == 1)
    }

    /// A Type 4 tag with a container. A rule gives the answers to reads.
    private func card(
        container: String,
        _ read: @escaping @Sendable (_ offset: Int, _ count: Int) -> [UInt8]
    ) -> EndlessCard {
        let file = Mutex(false)
        return EndlessCard { apdu, _ in
            switch apdu[1] {
            case 0xA4:
                file.withLock { $0 = apdu.suffix(2) == [0xE1, 0x04] }
                return [0x90, 0x00]
            case 0xB0 where !file.withLock { $0 }:
                return bytes(container).dropFirst(Int(apdu[3])).prefix(Int(apdu[4])) + [0x90, 0x00]
            default: return read(Int(apdu[2]) << 8 | Int(apdu[3]), Int(apdu[4])) + [0x90, 0x00]
            }
        }
    }

    @Test func `A container that promises 64 KB, and reads that bring nothing, too little or too much`() async {
        let container = "000f20000f000d0406e104fffe0000"
        let empty = card(container: container) { offset, count in offset == 0 ? [0xFF, 0xF0] : [] }
        await fails(Type4Tag(link: empty), .badAnswer, naming: "NFC Forum T4T 1.2, 5.3")
        #expect(empty.statistics.exchanges <= 10)
        // A byte at a time would make 65,520 reads of the message.
        let short = card(container: container) { offset, _ in offset == 0 ? [0xFF, 0xF0] : [0x41] }
        await fails(Type4Tag(link: short), .badAnswer, naming: "NFC Forum T4T 1.2, 5.3")
        #expect(short.statistics.exchanges <= 20)
        let long = card(container: container) { _, count in [0xFF, 0xF0] + [UInt8](repeating: 0x41, count: count) }
        await fails(Type4Tag(link: long), .badAnswer, naming: "ISO/IEC 7816-4, 5.1")
        #expect(long.statistics.exchanges <= 6)
        let overrun = card(container: "000f20000f000d0406e10400640000") { _, _ in [0x00, 0x63] }
        await fails(Type4Tag(link: overrun), .lengthOverrun, naming: "NFC Forum T4T 1.2, 6.2")
        // 4 GB in an extended control TLV, all of them a message.
        let huge = card(container: "00113000ff00ff0608e104ffffffff0000") { _, _ in [0xFF, 0xFF, 0xFF, 0xFB] }
        await fails(Type4Tag(link: huge), .unsupported, naming: "1048576")
    }

    @Test func `NULL TLVs without end`() async {
        let type5 = EndlessTag(.nfcV) { request, _ in
            let isLong = request[1] == 0x33
            var memory = [UInt8](repeating: 0, count: 4 * (Int(request[isLong ? 4 : 3]) + 1))
            if !isLong, request[2] == 0 { memory.replaceSubrange(0..<8, with: bytes("e14000010000ffff")) }
            return [0] + memory
        }
        let target = NFCVTarget(uid: bytes("e0fe000000112233"))
        await fails(Type5Tag(target: target, link: type5, isAlone: true), .noMessageTLV, naming: "NFC Forum T5T 1.0")
        // Every block that has an address, 32 at a time.
        #expect(type5.exchanges <= 3 + 65536 / 32)

        let type2 = EndlessTag(.nfcA) { request, _ in
            guard request[0] == 0x30 else { return nil }
            return (request[1] == 3 ? bytes("e1107d00") : []) + [UInt8](repeating: 0, count: request[1] == 3 ? 12 : 16)
        }
        await fails(makeTag(type2), .noMessageTLV, naming: "NFC Forum T2T 1.2, 4.3")
        #expect(type2.exchanges < 70)

        let type1 = EndlessTag(.nfcA) { request, _ in
            switch request[0] {
            case 0x78: bytes("124c01020304")
            case 0x00: bytes("124c 0102030405060700 e110ff00") + [UInt8](repeating: 0, count: 108)
            case 0x10, 0x02: [request[1]] + [UInt8](repeating: 0, count: request[0] == 0x10 ? 128 : 8)
            default: nil
            }
        }
        await fails(Type1Tag(link: type1), .noMessageTLV, naming: "NFC Forum T1T 1.2")
        #expect(type1.exchanges < 300)
    }

    @Test func `A container that promises 64 KB on a tag of 512 bytes`() async {
        // Blocks from 128 on are missing, but the length of the message is that of the whole area.
        let type5 = EndlessTag(.nfcV) { request, _ in
            guard request[1] == 0x23 || request[1] == 0x20 else { return nil }
            let count = request[1] == 0x23 ? Int(request[3]) + 1 : 1
            guard Int(request[2]) + count <= 128 else { return [0x01, 0x10] }
            var memory = [UInt8](repeating: 0x41, count: 4 * count)
            if request[2] == 0 { memory.replaceSubrange(0..<12, with: bytes("e14000010000ffff03ffffee")) }
            return [0] + memory
        }
        let target = NFCVTarget(uid: bytes("e0fe000000112233"))
        await fails(Type5Tag(target: target, link: type5, isAlone: true), .lengthOverrun, naming: "NFC Forum T5T 1.0")
        #expect(type5.exchanges < 150)
    }

    @Test func `Blocks whose size changes, and answers without bytes`() async {
        let target = NFCVTarget(uid: bytes("e0fe000000112233"))
        for size in [1, 3, 5, 8, 33, 62] {
            // The first four blocks have four bytes each, and later ones another number.
            let link = EndlessTag(.nfcV) { request, number in
                let count = request[1] == 0x23 ? Int(request[3]) + 1 : 1
                if number == 0 { return [0] + bytes("e1403f01 03f0") + [UInt8](repeating: 0x41, count: 10) }
                return [0] + [UInt8](repeating: 0x41, count: size * count)
            }
            await fails(
                Type5Tag(target: target, link: link, isAlone: true),
                .badAnswer,
                naming: "NFC Forum T5T 1.0, 5.2"
            )
            #expect(link.exchanges <= 3)
        }
        let none = EndlessTag(.nfcV) { _, _ in [] }
        await fails(Type5Tag(target: target, link: none, isAlone: true), .badAnswer, naming: "ISO/IEC 15693-3, 7.4")
        #expect(none.exchanges <= 3)
        let flags = EndlessTag(.nfcV) { _, _ in [0] }
        await fails(Type5Tag(target: target, link: flags, isAlone: true), .badAnswer, naming: "NFC Forum T5T 1.0, 4.1")
    }

    /// A Type 3 tag with an attribute block, whose other blocks are of any number.
    private func felica(_ attributes: [UInt8], _ data: @escaping @Sendable (Int) -> [UInt8]) -> EndlessTag {
        let sum = attributes.reduce(0) { $0 + Int($1) }
        let block = attributes + [UInt8(sum >> 8), UInt8(sum & 0xFF)]
        let idm = [UInt8](repeating: 2, count: 8)
        return EndlessTag(.nfcF) { request, number in
            guard request.count > 13, request[1] == 0x06 else { return nil }
            let content = number == 0 ? [0, 0, 1] + block : data(Int(request[13]))
            return [UInt8(truncatingIfNeeded: 10 + content.count), 0x07] + idm + content
        }
    }

    private func type3(_ link: EndlessTag) -> Type3Tag {
        let idm = [UInt8](repeating: 2, count: 8)
        return Type3Tag(target: NFCFTarget(idm: idm, pmm: idm, systemCode: 0x12FC), link: link)
    }

    @Test func `A Type 3 tag with Nbr 255, Nmaxb 65,535, and answers of another length`() async throws {
        let most: [UInt8] = [0x10, 255, 255, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0x02, 0x00]
        // Nbr is limited to 15 blocks, the maximum of an answer.
        let link = felica(most) { [0, 0, UInt8($0)] + [UInt8](repeating: 0x41, count: 16 * $0) }
        #expect(try await type3(link).readNDEF() == [UInt8](repeating: 0x41, count: 512))
        #expect(link.exchanges == 4)
        for wrong: @Sendable (Int) -> [UInt8] in [
            { [0, 0, UInt8($0)] }, { [0, 0, UInt8($0 - 1)] + [UInt8](repeating: 0, count: 16 * $0) }, { _ in [0, 0] },
            { [0, 0, UInt8($0)] + [UInt8](repeating: 0, count: 16 * $0 - 1) },
        ] {
            let link = felica(most, wrong)
            await fails(type3(link), .badAnswer, naming: "NFC Forum T3T 1.0, 5.4")
            #expect(link.exchanges == 2)
        }
        await fails(type3(felica(most) { _ in [] }), .badAnswer, naming: "NFC Forum T3T 1.0, 5")
        await fails(type3(EndlessTag(.nfcF) { _, _ in [] }), .badAnswer, naming: "NFC Forum T3T 1.0, 5")
        let long: [UInt8] = [0x10, 4, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF]
        await fails(type3(felica(long) { _ in [] }), .lengthOverrun, naming: "NFC Forum T3T 1.0, 6.1")
        // 1 MB in blocks of 16 bytes, each of which comes: 65,535 reads, and no more.
        let all: [UInt8] = [0x10, 1, 1, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1, 0x0F, 0xFF, 0xF0]
        let endless = felica(all) { [0, 0, UInt8($0)] + [UInt8](repeating: 0x41, count: 16 * $0) }
        #expect(try await type3(endless).readNDEF().count == 0xFFFF0)
        #expect(endless.exchanges == 65536)
    }

    @Test func `A Type 2 tag that answers READ with nothing, too little or too much`() async {
        for count in [0, 1, 15, 17, 255] {
            let link = EndlessTag(.nfcA) { request, _ in
                request[0] == 0x30 ? [UInt8](repeating: 0, count: count) : nil
            }
            await fails(makeTag(link), .badAnswer, naming: "NFC Forum T2T 1.2, 5.2")
            #expect(link.exchanges <= 2)
        }
    }
}
