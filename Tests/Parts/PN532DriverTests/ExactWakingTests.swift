// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import TagLink
import Testing

@testable import PN532Driver

/// Checks what goes over the serial line while a tag that was found is woken and selected again.
@Suite(.timeLimit(.minutes(5)))
struct ExactWakingTests {
    /// A card of ISO/IEC 14443-4 Type A in the field.
    private struct Card: Sendable {
        var uid: [UInt8]
        var sak: UInt8 = 0x20
        /// What it answers to a frame; the chip's status comes first.
        var answers: @Sendable (_ frame: [UInt8]) -> [UInt8]?
        /// What the chip lists when it looks for this UID alone.
        var isListed: @Sendable () -> Bool = { false }

        func respond(_ code: UInt8, _ data: [UInt8]) -> ScriptedChip.Reply? {
            switch code {
            case 0x4A where data[1] == 0 && (data.count == 2 || isListed()):
                .answer([1, 1, 0, 0x44, sak, UInt8(uid.count)] + uid)
            case 0x42: .answer(answers(data) ?? [0x01])
            default: nil
            }
        }
    }

    /// What the host sends to wake a card, and whether that succeeds.
    private static func wake(_ card: Card) async throws -> (log: [String], error: LinkError?) {
        let chip = try ScriptedChip { card.respond($0, $1) }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
        let before = chip.received.count
        do throws(LinkError) {
            try await tag.link.reactivate()
            return (chip.log(from: before), nil)
        } catch {
            return (chip.log(from: before), error)
        }
    }

    /// S(DESELECT) with a checksum that the host looks at, then WUPA without one, then with one again.
    private static let asleepAndAwake = [
        "06 63026303", "08 630300", "32 02000b07", "42 c2", "08 630200633d07", "42 52", "08 630280633d00",
    ]

    @Test("A card of ISO-DEP is put to sleep and selected by its UID, level by level")
    func levels() async throws {
        let uids: [([UInt8], [String])] = [
            ([8, 1, 2, 3], ["42 9370080102030" + "8"]),
            ([4, 1, 2, 3, 5, 6, 7], ["42 937088040102" + "8f", "42 957003050607" + "07"]),
            (
                [4, 1, 2, 3, 5, 6, 7, 9, 10, 11],
                ["42 937088040102" + "8f", "42 957088030506" + "88", "42 977007090a0b" + "0f"]
            ),
        ]
        for (uid, selects) in uids {
            let card = Card(uid: uid) { frame in
                switch frame[0] {
                case 0x52: [0, 0x44, 0x03]
                case UInt8(0x91 + 2 * selects.count): [0, 0x20, 0xFC, 0x70]
                case 0x93, 0x95: [0, 0x04, 0xDA, 0x17]
                default: nil
                }
            }
            let (log, error) = try await Self.wake(card)
            #expect(error == nil)
            #expect(log == Self.asleepAndAwake + selects)
        }
    }

    @Test(
        "A card that fails at any step is looked for, then looked for in a new field, then gone",
        arguments: [
            ("WUPA", 0x52, [1]), ("WUPA", 0x52, [0, 0x44]), ("SELECT", 0x93, [1]), ("SELECT", 0x93, [0, 4]),
            ("another", 0x95, [0, 0x08, 0xFC, 0x70]),
        ] as [(String, UInt8, [UInt8])]
    )
    func fails(_ step: String, _ frame: UInt8, _ answer: [UInt8]) async throws {
        let uid: [UInt8] = [4, 1, 2, 3, 5, 6, 7]
        let wanted = "4a 010088" + uid.hexText()
        let answers: @Sendable ([UInt8]) -> [UInt8]? = { sent in
            if sent[0] == frame { return answer }
            switch sent[0] {
            case 0x52: return [0, 0x44, 0x03]
            case 0x93: return [0, 0x04, 0xDA, 0x17]
            case 0x95: return [0, 0x20, 0xFC, 0x70]
            default: return nil
            }
        }
        for found in 1...3 {
            let looks = Locked(0)
            let card = Card(uid: uid, answers: answers) {
                looks.withLock {
                    $0 += 1
                    return $0 == found
                }
            }
            let (log, error) = try await Self.wake(card)
            let tail = [wanted] + ScriptedChip.restart + [wanted]
            #expect(Array(log.suffix(found == 1 ? 1 : 4)) == Array(tail.prefix(found == 1 ? 1 : 4)))
            #expect(!log.dropLast(found == 1 ? 1 : 4).contains { $0.hasPrefix("4a") })
            #expect(error?.code == (found == 3 ? .tagRemoved : nil))
        }
    }

    @Test("A chip that refuses to wake a card ends the attempt, since no other way would succeed")
    func refusal() async throws {
        for refused: UInt8 in [0xC2, 0x52] {
            let chip = try ScriptedChip { code, data in
                if code == 0x42 { return data[0] == refused ? .syntaxError : .answer([1]) }
                return code == 0x4A ? .answer([1, 1, 0, 0x44, 0x20, 4, 1, 2, 3, 4]) : nil
            }
            defer { chip.end() }
            let reader = try PN532Reader(chip.path, limits: .patient)
            let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
            await #expect(throws: LinkError(.unsupported, "")) { try await tag.link.reactivate() }
        }
    }

    @Test("A tag without ISO-DEP is looked for by its UID, with the cascade's marks in it")
    func withoutISODEP() async throws {
        for (uid, text): ([UInt8], String) in [
            ([1, 2, 3, 4], "01020304"), ([4, 1, 2, 3, 5, 6, 7], "8804010203050607"),
            ([4, 1, 2, 3, 5, 6, 7, 9, 10, 11], "88040102880305060709" + "0a0b"),
        ] {
            let card = Card(uid: uid, sak: 0x08, answers: { _ in nil }, isListed: { true })
            let (log, error) = try await Self.wake(card)
            #expect(error == nil)
            #expect(log == ["4a 0100" + text])
        }
    }

    @Test(
        "Another tag than the one that was found is not taken for it",
        arguments: [(0x08, 4), (0x00, 5)] as [(UInt8, UInt8)]
    )
    func another(_ sak: UInt8, _ last: UInt8) async throws {
        let looks = Locked(0)
        let chip = try ScriptedChip { code, data in
            guard code == 0x4A else { return nil }
            let isFirst = looks.withLock {
                $0 += 1
                return $0 == 1
            }
            return .answer([1, 1, 0, 0x44, isFirst ? 0 : sak, 4, 1, 2, 3, isFirst ? 4 : last])
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
        await #expect(throws: LinkError(.tagRemoved, "")) { try await tag.link.reactivate() }
    }

    @Test("A tag that could not be woken is sent nothing, since another one may be selected")
    func notWoken() async throws {
        let looks = Locked(0)
        let chip = try ScriptedChip { code, data in
            guard code == 0x4A, data[1] == 0 else { return nil }
            let isFirst = looks.withLock {
                $0 += 1
                return $0 == 1
            }
            return .answer(isFirst ? [1, 1, 0, 0x44, 0, 4, 1, 2, 3, 4] : [0])
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tag = try #require(try await reader.discover([.nfcA], systemCodes: []).first)
        await #expect(throws: LinkError(.tagRemoved, "")) { try await tag.link.reactivate() }
        await #expect(throws: LinkError(.tagRemoved, "")) {
            try await tag.link.transceive(Frame([0x30, 0]), timeout: .milliseconds(5))
        }
        #expect(!chip.commands.contains(0x42))
    }

    @Test("A card that was not the chip's last one is looked for at once, since the chip speaks another technology")
    func otherTechnology() async throws {
        let body: [UInt8] = [0x50, 1, 2, 3, 4, 0, 0, 0, 0, 0x00, 0x81, 0x71]
        let chip = try ScriptedChip { code, data in
            switch (code, data.dropFirst().first) {
            case (0x4A, 0x00): .answer([1, 1, 0, 0x44, 0x20, 4, 1, 2, 3, 4])
            case (0x4A, 0x03): .answer([1, 1] + body + [1, 0])
            case (0x42, _): .answer([0] + body)
            default: nil
            }
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tags = try await reader.discover([.nfcA, .nfcB], systemCodes: [])
        try #require(tags.count == 2)
        var before = chip.received.count
        try await reader.select(tags[0])
        #expect(chip.log(from: before) == ["4a 010300", "44 01", "42 050008"])
        before = chip.received.count
        try await reader.select(tags[1])
        #expect(chip.log(from: before) == ["4a 010001020304"])
    }

    @Test("A card of NFC-B whose identifier differs in its last byte is another one")
    func anotherOfNFCB() async throws {
        let looks = Locked(0)
        let chip = try ScriptedChip { code, data in
            let last: UInt8 = looks.withLock { $0 } > 1 ? 9 : 4
            let body: [UInt8] = [0x50, 1, 2, 3, last, 0, 0, 0, 0, 0x00, 0x81, 0x71]
            if code == 0x4A, data[1] == 3 { return .answer([1, 1] + body + [1, 0]) }
            guard code == 0x42 else { return nil }
            guard data[0] == 0x05 else { return .answer([1]) }
            // The first card is found; what is woken afterwards is the other.
            let look = looks.withLock {
                $0 += 1
                return $0
            }
            return .answer([0, 0x50, 1, 2, 3, look > 1 ? 9 : 4] + body.dropFirst(5))
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tag = try #require(try await reader.discover([.nfcB], systemCodes: []).first)
        await #expect(throws: LinkError(.tagRemoved, "")) { try await tag.link.reactivate() }
    }

    // MARK: The other types

    /// Looks for a tag that the chip lists in the looks that are counted, and wakes it.
    private static func wake(
        _ technology: Technology,
        list: [UInt8],
        modulation: UInt8,
        listedAt listed: Set<Int>,
        answer: [UInt8] = [1]
    ) async throws -> (log: [String], error: LinkError?) {
        let looks = Locked(0)
        let chip = try ScriptedChip { code, data in
            if code == 0x42 { return .answer(answer) }
            guard code == 0x4A, data[1] == modulation else { return nil }
            let look = looks.withLock {
                $0 += 1
                return $0
            }
            return .answer(look == 1 || listed.contains(look) ? list : [0])
        }
        defer { chip.end() }
        let reader = try PN532Reader(chip.path, limits: .patient)
        let tag = try #require(try await reader.discover([technology], systemCodes: [0x12FC]).first)
        let before = chip.received.count
        do throws(LinkError) {
            try await tag.link.reactivate()
            return (chip.log(from: before), nil)
        } catch {
            return (chip.log(from: before), error)
        }
    }

    @Test("A Type 1 tag is looked for twice, and a FeliCa tag twice with each number of slots")
    func twice() async throws {
        let type1: [UInt8] = [1, 1, 0x0C, 0x00, 1, 2, 3, 4]
        for (listed, count) in [([2], 1), ([3], 2), ([], 2)] as [(Set<Int>, Int)] {
            let (log, error) = try await Self.wake(.nfcA, list: type1, modulation: 4, listedAt: listed)
            #expect(log == [String](repeating: "4a 0104", count: count))
            #expect(error?.code == (listed.isEmpty ? .tagRemoved : nil))
        }
        let felica: [UInt8] = [1, 1, 18, 1] + [UInt8](1...16)
        let polls = ["4a 02010012fc0100", "4a 02010012fc0103"]
        for (listed, count) in [([2], 1), ([3], 2), ([4], 3), ([5], 4), ([], 4)] as [(Set<Int>, Int)] {
            let (log, error) = try await Self.wake(.nfcF, list: felica, modulation: 1, listedAt: listed)
            #expect(log == Array((polls + polls).prefix(count)))
            #expect(error?.code == (listed.isEmpty ? .tagRemoved : nil))
        }
    }

    @Test("A card of NFC-B is put to sleep and woken, then selected anew, then looked for in a new field")
    func nfcB() async throws {
        let body: [UInt8] = [0x50, 1, 2, 3, 4, 0, 0, 0, 0, 0x00, 0x81, 0x71]
        let list = [1, 1] + body + [1, 0]
        let find = ["4a 010300", "44 01", "42 050008"]
        let (gentle, gentleError) = try await Self.wake(
            .nfcB,
            list: list,
            modulation: 3,
            listedAt: [],
            answer: [0] + body
        )
        #expect(gentle == ["42 c2", "42 050008"] && gentleError == nil)
        for (listed, expected) in [
            ([2], ["42 c2", "42 050008"] + find),
            ([3], ["42 c2", "42 050008", "4a 010300"] + ScriptedChip.restart + find),
            ([], ["42 c2", "42 050008", "4a 010300"] + ScriptedChip.restart + ["4a 010300"]),
        ] as [(Set<Int>, [String])] {
            let looks = Locked((lists: 0, wakes: 0))
            let chip = try ScriptedChip { code, data in
                if code == 0x4A, data[1] == 3 {
                    let look = looks.withLock {
                        $0.lists += 1
                        return $0.lists
                    }
                    return .answer(look == 1 || listed.contains(look) ? list : [0])
                }
                guard code == 0x42 else { return nil }
                guard data[0] == 0x05 else { return .answer([1]) }
                // It sleeps too soundly for the first attempt to wake it.
                let wake = looks.withLock {
                    $0.wakes += 1
                    return $0.wakes
                }
                return .answer(wake == 2 ? [1] : [0] + body)
            }
            defer { chip.end() }
            let reader = try PN532Reader(chip.path, limits: .patient)
            let tag = try #require(try await reader.discover([.nfcB], systemCodes: []).first)
            let before = chip.received.count
            do throws(LinkError) {
                try await tag.link.reactivate()
                #expect(!listed.isEmpty)
            } catch {
                #expect(listed.isEmpty && error.code == .tagRemoved)
            }
            #expect(chip.log(from: before) == expected)
        }
    }
}
