// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

@Suite struct `NFC-B, NFC-F and NFC-V activation` {
    static let atqb = "50 11223344 00000000 008171"

    @Test func `An NFC-B card that is alone takes one exchange, and ATTRIB begins ISO-DEP`() async throws {
        let link = ScriptedLink(
            [
                .exchange("050000", Self.atqb), .exchange("1d 11223344 00 08 01 00", "00"),
                .exchange("02 00a4", "02 9000"),
            ],
            technology: .nfcB
        )
        let target = try #require(try await NFCBActivation(link: link).findAll().first)
        #expect(target.identifier == bytes("11223344"))
        #expect(target.maximumFrameSize == 256)
        #expect(target.isISODEP)
        #expect(target.supportsCID)
        #expect(target.frameWaitingTime == Airtime(carrierPeriods: 4096 << 7))
        let card = ISODEP(link: link, opening: .attribute(target))
        #expect(try await card.transmit(bytes("00a4")) == bytes("9000"))
        #expect(card.answerToSelect == nil)
        #expect(makeForumTag(for: target, link: link)?.type == .type4)
    }

    @Test func `NFC-B cards that collide get slots of their own`() async throws {
        let link = ScriptedLink(
            [
                .exchange("050000", .collision), .exchange("050001", Self.atqb),
                .exchange("15", "50 55667788 00000000 008171"), .exchange("50 55667788", "00"),
            ],
            technology: .nfcB
        )
        let activation = NFCBActivation(link: link)
        let targets = try await activation.findAll()
        #expect(targets.map { hex($0.identifier) } == ["11223344", "55667788"])
        try await activation.halt(targets[1])
        #expect(link.remaining == 0)
    }

    @Test func `NFC-B cards that always collide end the search`() async throws {
        struct Crowd: ModelResponder {
            mutating func respond(_ frame: Frame) -> ModelAnswer { ModelAnswer(frame: Frame([0x50])) }
        }
        let link = ModelField(Crowd(), .nfcB)
        #expect(try await NFCBActivation(link: link).findAll().isEmpty)
        #expect(link.exchanges < 100)
    }

    @Test func `Polling returns the tags of all slots`() async throws {
        let first = "14 01 02fe001122334455 00f1000000014300 88b4"
        let second = "12 01 02fe0011223344aa 00f1000000014300"
        let link = ScriptedLink([.exchange("0600ffff0103", first + second)], technology: .nfcF)
        let answers = try await NFCFPolling(link: link).poll(timeSlots: 3)
        #expect(answers.map(\.target.systemCode) == [0x88B4, nil])
        #expect(answers.map { hex($0.target.idm) } == ["02fe001122334455", "02fe0011223344aa"])
        #expect(answers[0].target.isLite)
        for wrong in ["1401", "13", "00", "12 02 02fe0011223344aa 00f1000000014300", first + "05"] {
            let link = ScriptedLink([.exchange("0600ffff0103", wrong)], technology: .nfcF)
            await #expect(throws: TagError(.badAnswer, "")) { try await NFCFPolling(link: link).poll(timeSlots: 3) }
        }
    }

    @Test func `The time of a FeliCa command follows from PMm`() {
        let target = NFCFTarget(idm: bytes("02fe001122334455"), pmm: bytes("00f10000004b4300"), systemCode: nil)
        // 4B: A = 3, B = 1, E = 1; 43: A = 3, B = 0, E = 1.
        #expect(target.maximumResponseTime(.read, count: 4) == Airtime(carrierPeriods: (4 + 2 * 4) * 4 * 4096))
        #expect(target.maximumResponseTime(.write, count: 1) == Airtime(carrierPeriods: (4 + 1) * 4 * 4096))
    }

    @Test func `FeliCa commands are answered`() async throws {
        let idm = "02fe001122334455"
        let target = NFCFTarget(idm: bytes(idm), pmm: bytes("00f1000000014300"), systemCode: nil)
        let link = ScriptedLink(
            [
                .exchange("0f02" + idm + "020b000900", "0f03" + idm + "020100ffff"),
                .exchange("0a04" + idm, "0b05" + idm + "00"), .exchange("0a0c" + idm, "0d0d" + idm + "0112fc"),
                .exchange("0a04" + idm, "0b0502fe0011223344aa00"),
            ],
            technology: .nfcF
        )
        let card = FeliCaCard(link: link, target: target)
        #expect(try await card.requestService([0x000B, 0x0009]) == [1, 0xFFFF])
        #expect(try await card.requestResponse() == 0)
        #expect(try await card.requestSystemCodes() == [0x12FC])
        await #expect(throws: TagError(.tagLost, "")) { try await card.requestResponse() }
        let elements = [FeliCaCommand.BlockElement(block: 1), .init(block: 0x123)]
        #expect(
            hex(FeliCaCommand.read(idm: bytes(idm), services: [0x000B], blocks: elements)) == "1306" + idm
                + "010b00" + "028001002301"
        )
    }

    static let uid = "3322110008 2402e0"

    @Test func `An NFC-V tag that is alone takes one exchange of 6.18 ms`() async throws {
        let link = ScriptedLink([.exchange("260100", "00 05" + Self.uid)], technology: .nfcV)
        let targets = try await NFCVInventory(link: link).findAll()
        #expect(targets == [NFCVTarget(uid: bytes("e002240800112233"), dsfid: 5)])
        #expect(abs(link.statistics.airtime.microseconds - 6180) < 5)
    }

    @Test func `NFC-V tags that collide are separated by slots and masks`() async throws {
        let eof = ScriptedLink.Step(
            request: Frame([], checksum: .none),
            result: .failure(LinkError(.timeout, "nobody"))
        )
        func slot(_ text: String) -> ScriptedLink.Step {
            .init(request: Frame([], checksum: .none), result: .success(Frame(bytes(text), checksum: .none)))
        }
        let collision = ScriptedLink.Step(
            request: Frame([], checksum: .none),
            result: .failure(LinkError(.collision, "two"))
        )
        // Two UIDs that end in 33 and 43, and one in 35. The answer in a slot comes with its checksum.
        let third = bytes("0000" + "3522110008 2402e0")
        let crc = CyclicRedundancyCheck.b(third)
        let checked = hex(third) + hex([UInt8(crc & 0xFF), UInt8(crc >> 8)])
        var steps: [ScriptedLink.Step] = [.exchange("260100", .collision), .exchange("060100", .timeout)]
        steps += [eof, eof, collision, eof, slot(checked)] + [ScriptedLink.Step](repeating: eof, count: 10)
        steps += [.exchange("06010403", .timeout), eof, eof, slot("0000" + Self.uid)]
        steps += [slot("0000 4322110008 2402e0")] + [ScriptedLink.Step](repeating: eof, count: 11)
        let link = ScriptedLink(steps, technology: .nfcV)
        let targets = try await NFCVInventory(link: link).findAll()
        #expect(targets.map { $0.uid.last } == [0x35, 0x33, 0x43])
        #expect(link.remaining == 0)
    }

    @Test func `NFC-V tags that always collide end with an error`() async throws {
        final class Crowd: FrameLink {
            let technology = Technology.nfcV
            let maximumFrameLength = 256
            let statistics = LinkStatistics()
            func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
                throw LinkError(.collision, "for ever")
            }
        }
        await #expect(throws: TagError(.badAnswer, "")) { try await NFCVInventory(link: Crowd()).findAll() }
    }

    @Test func `System information is read in both forms`() throws {
        let info = try ISO15693SystemInfo(bytes("0f 332211000824 02e0 05 07 7f03 26"))
        #expect(info.uid == bytes("e002240800112233"))
        #expect(info.dsfid == 5)
        #expect(info.afi == 7)
        #expect(info.blockCount == 128)
        #expect(info.blockSize == 4)
        #expect(info.icReference == 0x26)
        let long = try ISO15693SystemInfo(bytes("04 332211000824 02e0 ff07 03"), isExtended: true)
        #expect(long.blockCount == 2048)
        for count in 0..<14 {
            let short = Array(bytes("0f 332211000824 02e0 05 07 7f03 26").prefix(count))
            #expect(throws: TagError(.badAnswer, "")) { try ISO15693SystemInfo(short) }
        }
    }
}
