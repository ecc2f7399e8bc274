// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Tags that answer late, damaged, by halves or not at all while they are looked for (ISO/IEC 14443-3, 6).
@Suite struct `NFC-A activation with odd partners` {
    typealias Step = ScriptedLink.Step

    private static func failure(_ code: LinkError.Code) -> LinkError { LinkError(code, "scripted") }
    private static let sense = Step.raw("26", bits: 7, "0400")
    private static func found(_ last: UInt8, sak: String = "00") -> [Step] {
        let check = hex([1 ^ 2 ^ 3 ^ last])
        return [.raw("9320", "010203" + hex([last]) + check), .exchange("9370 010203" + hex([last]) + check, sak)]
    }

    /// What is found, or an error, and how much of the script is left.
    private static func all(
        waking: Bool = false,
        limit: Int = 16,
        _ steps: [Step]
    ) async -> (uids: [[UInt8]], code: TagError.Code?, left: Int) {
        let link = ScriptedLink(steps)
        do throws(TagError) {
            let found = try await NFCAActivation(link: link).activateAll(waking: waking, limit: limit)
            return (found.map(\.uid), nil, link.remaining)
        } catch {
            return ([], error.code, link.remaining)
        }
    }

    @Test func `A damaged ATQA is asked for three times, and then taken for that of several tags`() async {
        let damaged = Step.raw("26", bits: 7, Self.failure(.transmission))
        let silent = Step.raw("26", bits: 7, Self.failure(.timeout))
        for before in [[damaged], [damaged, damaged], [damaged, silent]] {
            let (uids, code, left) = await Self.all(before + [Self.sense] + Self.found(4))
            #expect(uids == [[1, 2, 3, 4]] && code == nil && left == 0)
        }
        // Too short, too long, or not whole bytes.
        for odd in [
            Step.raw("26", bits: 7, "04"), .raw("26", bits: 7, "040000"), .raw("26", bits: 7, "0400", responseBits: 7),
        ] {
            let (uids, _, left) = await Self.all([odd, Self.sense] + Self.found(4))
            #expect(uids == [[1, 2, 3, 4]] && left == 0)
        }
        let halted = [Step.exchange("5000", .timeout), .raw("26", bits: 7, Self.failure(.timeout))]
        let back: [Step] = [.raw("52", bits: 7, "0400"), .exchange("9370 0102030404", "00")]
        let crowd = await Self.all([damaged, damaged, damaged] + Self.found(4) + halted + back)
        #expect(crowd.uids == [[1, 2, 3, 4]] && crowd.left == 0)
        // A tag that made noise once is waited for over three silences.
        let gone = await Self.all([damaged, silent, silent, silent])
        #expect(gone.uids.isEmpty && gone.code == nil && gone.left == 0)
    }

    @Test func `A reader that fails ends the search with its own error`() async {
        for (code, wanted): (LinkError.Code, TagError.Code) in [
            (.cancelled, .cancelled), (.readerUnavailable, .readerUnavailable), (.unsupported, .unsupported),
            (.inUse, .readerUnavailable),
        ] {
            let at = Self.failure(code)
            let steps: [[Step]] = [
                [.raw("26", bits: 7, at)], [Self.sense, .raw("9320", at)],
                [Self.sense, .raw("9320", "0102030404"), .exchange("9370 0102030404", code)],
            ]
            for script in steps {
                let (_, error, left) = await Self.all(script)
                #expect(error == wanted && left == 0)
            }
        }
        let removed = await Self.all([.raw("26", bits: 7, Self.failure(.tagRemoved))])
        #expect(removed.uids.isEmpty && removed.code == nil)
    }

    @Test func `A tag that falls silent while it is selected is looked for three times`() async {
        let lost: [[Step]] = [
            [Self.sense, .raw("9320", Self.failure(.timeout))],
            [Self.sense, .raw("9320", "0102030404"), .exchange("9370 0102030404", .timeout)],
            [Self.sense, .raw("9320", "0102030404"), .exchange("9370 0102030404", "0000")],
            [Self.sense, .raw("9320", "0102030404"), .exchange("9370 0102030404", nibble: 0)],
        ]
        for attempt in lost {
            let (uids, code, left) = await Self.all(attempt + attempt + [Self.sense] + Self.found(4))
            #expect(uids == [[1, 2, 3, 4]] && code == nil && left == 0)
            let gone = await Self.all(attempt + attempt + attempt)
            #expect(gone.uids.isEmpty && gone.code == nil && gone.left == 0)
        }
    }

    @Test func `A tag that comes twice is found once, and one that is alone is not put to sleep`() async {
        let collided = Step.raw("26", bits: 7, Self.failure(.collision))
        let twice = await Self.all(
            [collided] + Self.found(4) + [.exchange("5000", .timeout), Self.sense] + Self.found(4)
        )
        #expect(twice.uids == [[1, 2, 3, 4]] && twice.left == 0)
        let limited = await Self.all(limit: 1, [collided] + Self.found(4))
        #expect(limited.uids == [[1, 2, 3, 4]] && limited.left == 0)
        let woken = await Self.all(waking: true, [.raw("52", bits: 7, "0400")] + Self.found(4))
        #expect(woken.uids == [[1, 2, 3, 4]] && woken.left == 0)
        #expect(await Self.all(limit: 0, []).uids.isEmpty)
    }

    @Test func `A tag that can't be put to sleep does not stand in for the last one that was found`() async {
        let collided = Step.raw("26", bits: 7, Self.failure(.collision))
        let halt = Step.exchange("5000", .timeout)
        let start = [collided] + Self.found(4) + [halt, collided] + Self.found(5) + [halt, Self.sense] + Self.found(4)
        let woken: [Step] = [.raw("52", bits: 7, "0400"), .exchange("9370 0102030505", "00")]
        let all = await Self.all(start + woken)
        #expect(all.uids.map(\.last) == [4, 5] && all.code == nil && all.left == 0)
    }

    @Test func `The last tag that was put to sleep is woken again; of those that left the one before it`() async {
        let collided = Step.raw("26", bits: 7, Self.failure(.collision))
        let halt = Step.exchange("5000", .timeout)
        let nobody = Step.raw("26", bits: 7, Self.failure(.timeout))
        let start = [collided] + Self.found(4) + [halt, collided] + Self.found(5) + [halt, nobody]
        func woken(_ last: UInt8, _ answer: String?) -> [Step] {
            let select = "9370 010203" + hex([last, last])
            let step = answer.map { Step.exchange(select, $0) } ?? .exchange(select, .timeout)
            return [.raw("52", bits: 7, "0400"), step]
        }
        func of(_ last: UInt8) -> UInt8 { 1 ^ 2 ^ 3 ^ last }
        #expect(of(4) == 4 && of(5) == 5)
        let all = await Self.all(start + woken(5, "00"))
        #expect(all.uids.map(\.last) == [4, 5] && all.left == 0)
        let left = await Self.all(start + woken(5, nil) + woken(5, nil) + woken(5, nil) + woken(4, "00"))
        #expect(left.uids.map(\.last) == [4] && left.left == 0)
        let none = await Self.all(
            start + woken(5, "08") + woken(4, nil) + woken(4, nil) + woken(4, nil)
        )
        #expect(none.uids.isEmpty && none.code == nil && none.left == 0)
        let failing = await Self.all(start + [.raw("52", bits: 7, Self.failure(.readerUnavailable))])
        #expect(failing.code == .readerUnavailable && failing.left == 0)
        let haltless = await Self.all([collided] + Self.found(4) + [.exchange("5000", .cancelled)])
        #expect(haltless.code == .cancelled && haltless.left == 0)
    }

    @Test func `Of a crowd the size of the UID stands for the ATQA that nobody could read`() async throws {
        let collided = Step.raw("26", bits: 7, Self.failure(.collision))
        for (level, atqa): (Int, UInt16) in [(0, 0x0004), (1, 0x0044), (2, 0x0084)] {
            var steps: [Step] = [collided]
            for code in ["93", "95"].prefix(level) {
                steps += [.raw(code + "20", "8801020388"), .exchange(code + "70 8801020388", "04")]
            }
            let code = ["93", "95", "97"][level]
            steps += [.raw(code + "20", "0405060700"), .exchange(code + "70 0405060700", "20")]
            let link = ScriptedLink(steps)
            let found = try await NFCAActivation(link: link).activateAll(limit: 1)
            #expect(found.map(\.atqa) == [atqa] && found.map(\.uid.count) == [4 + 3 * level] && link.remaining == 0)
        }
    }

    @Test func `A UID that goes on begins with the cascade tag`() async {
        let (_, code, _) = await Self.all([Self.sense, .raw("9320", "0102030404"), .exchange("9370 0102030404", "04")])
        #expect(code == .badAnswer)
    }

    @Test func `A collision that names no bit of a UID is an error`() async {
        let collisions: [LinkError.Collision?] = [
            nil, .init(bitIndex: -1, bits: []), .init(bitIndex: 9, bits: [1]), .init(bitIndex: 32, bits: [1, 2, 3, 4]),
        ]
        for collision in collisions {
            let step = Step.raw("9320", LinkError(.collision, "scripted", collision: collision))
            let (_, code, left) = await Self.all([Self.sense, step])
            #expect(code == .badAnswer && left == 0)
        }
        // Bit 31 is the last of a UID, and a collision there leaves the check byte alone.
        let last = Step.raw("9320", LinkError(.collision, "", collision: .init(bitIndex: 31, bits: [1, 2, 3, 4])))
        let chosen: [Step] = [
            .raw("9360 01020384", "84"), .exchange("9370 0102038484", "00"), .exchange("5000", .timeout),
            .raw("26", bits: 7, Self.failure(.timeout)), .raw("52", bits: 7, "0400"),
            .exchange("9370 0102038484", "00"),
        ]
        let (uids, _, left) = await Self.all([Self.sense, last] + chosen)
        #expect(uids == [[1, 2, 3, 0x84]] && left == 0)
    }

    @Test func `An answer to anticollision of another length is asked for again from the first bit`() async {
        for wrong in ["01020304", "010203040400"] {
            let (uids, _, left) = await Self.all([Self.sense, .raw("9320", wrong)] + Self.found(4))
            #expect(uids == [[1, 2, 3, 4]] && left == 0)
        }
        let damaged = Step.raw("9320", Self.failure(.transmission))
        let (uids, _, _) = await Self.all([Self.sense, damaged, damaged] + Self.found(4))
        #expect(uids == [[1, 2, 3, 4]])
        #expect(await Self.all([Self.sense, damaged, damaged, damaged]).code == .badAnswer)
    }

    @Test func `Reactivation goes on over noise, and stops at what the reader can't do`() async throws {
        let target = NFCATarget(atqa: 4, sak: 0x20, uid: [1, 2, 3, 4])
        let select = Step.exchange("9370 0102030404", "20")
        func outcome(_ steps: [Step], _ target: NFCATarget = target) async -> (TagError.Code?, Int) {
            let link = ScriptedLink(steps)
            do throws(TagError) {
                try await NFCAActivation(link: link).reactivate(target)
                return (nil, link.remaining)
            } catch {
                return (error.code, link.remaining)
            }
        }
        for code: LinkError.Code in [.collision, .transmission] {
            #expect(await outcome([.raw("52", bits: 7, Self.failure(code)), select]) == (nil, 0))
        }
        #expect(await outcome([.raw("52", bits: 7, "0400"), .exchange("9370 0102030404", "00")]) == (.tagLost, 0))
        #expect(await outcome([.raw("52", bits: 7, Self.failure(.cancelled))]) == (.cancelled, 0))
        let silent = Step.raw("52", bits: 7, Self.failure(.timeout))
        #expect(await outcome([silent, silent, silent]) == (.tagLost, 0))
        for uid in [[], [1, 2, 3], [1, 2, 3, 4, 5], [UInt8](1...8)] {
            #expect(await outcome([], NFCATarget(atqa: 4, sak: 0, uid: uid)) == (.unsupported, 0))
        }
        #expect(await outcome([], NFCATarget(atqa: 0x0C00, sak: nil, uid: [1, 2, 3, 4])) == (.unsupported, 0))
        let ten: [Step] = [
            .raw("52", bits: 7, "8400"), .exchange("9370 8801020388", "04"), .exchange("9570 880405068f", "04"),
            .exchange("9770 0708090a0c", "00"),
        ]
        #expect(await outcome(ten, NFCATarget(atqa: 0x84, sak: 0, uid: [UInt8](1...10))) == (nil, 0))
    }

    // MARK: What a target is

    @Test func `SAK and ATQA say what a tag is`() {
        func kind(_ sak: UInt8?, atqa: UInt16 = 0x0004) -> (String, [Bool]) {
            let target = NFCATarget(atqa: atqa, sak: sak, uid: [1, 2, 3, 4])
            return (
                target.kindName,
                [target.isType1, target.isType2, target.isISODEP, target.isNFCDEP, target.isMIFAREClassic]
            )
        }
        let expected: [(UInt8?, UInt16, String, [Bool])] = [
            (nil, 0x0C00, "Type 1 tag", [true, false, false, false, false]),
            (0x00, 0x0C00, "Type 2 tag", [false, true, false, false, false]),
            (0x00, 0x0044, "Type 2 tag", [false, true, false, false, false]),
            (0x20, 0x0344, "Type 4 tag or other ISO/IEC 14443-4 card", [false, false, true, false, false]),
            (0x28, 0x0004, "Type 4 tag or other ISO/IEC 14443-4 card", [false, false, true, false, true]),
            (0x08, 0x0004, "MIFARE Classic card", [false, false, false, false, true]),
            (0x01, 0x0004, "MIFARE Classic card", [false, false, false, false, true]),
            (0x10, 0x0004, "MIFARE Plus card in security level 2", [false, false, false, false, true]),
            (0x11, 0x0004, "MIFARE Plus card in security level 2", [false, false, false, false, true]),
            (0x40, 0x0004, "NFC-DEP device", [false, false, false, true, false]),
            (0x60, 0x0004, "Type 4 tag or other ISO/IEC 14443-4 card", [false, false, true, true, false]),
            (nil, 0x0004, "NFC-A tag of an unknown kind", [false, false, false, false, false]),
        ]
        for (sak, atqa, name, flags) in expected {
            let found = kind(sak, atqa: atqa)
            #expect(found.0 == name && found.1 == flags, "\(String(describing: sak))")
        }
        for atqa: UInt16 in [0x0C00, 0xFCE0] { #expect(NFCATarget.isType1(atqa: atqa)) }
        for atqa: UInt16 in [0x0C01, 0x0C10, 0x0D00, 0x0400] { #expect(!NFCATarget.isType1(atqa: atqa)) }
        #expect(NFCATarget(atqa: 0, sak: 0, uid: [UInt8](4...10)).manufacturer == 4)
        #expect(NFCATarget(atqa: 0, sak: 0, uid: [1, 2, 3, 4]).manufacturer == nil)
    }

    @Test func `A driver's data about a tag are a target, if they have enough bytes`() throws {
        let uid = [UInt8](1...8)
        let vicinity = try TagTarget(.nfcV(uid: uid, dsfid: 7))
        #expect(
            vicinity == .nfcV(NFCVTarget(uid: uid, dsfid: 7)) && vicinity.technology == .nfcV
                && vicinity.identifier == uid
        )
        #expect(vicinity.kindName == "Type 5 tag" && !vicinity.isISODEP && NFCVTarget(uid: uid).manufacturer == 2)
        let felica = try TagTarget(.nfcF(idm: uid, pmm: uid, systemCode: 3))
        #expect(felica == .nfcF(NFCFTarget(idm: uid, pmm: uid, systemCode: 3)) && felica.technology == .nfcF)
        #expect(felica.identifier == uid && felica.kindName == "FeliCa tag" && !felica.isISODEP)
        let card = try TagTarget(.nfcB(answer: bytes("50 11223344 00000000 008171")))
        #expect(card.technology == .nfcB && card.identifier == bytes("11223344") && card.isISODEP)
        #expect(card.kindName == "Type B card")
        let plain = try TagTarget(.nfcA(atqa: 4, sak: 0x20, uid: [1, 2, 3, 4]))
        #expect(plain.technology == .nfcA && plain.identifier == [1, 2, 3, 4] && plain.isISODEP)
        for wrong: DiscoveredTag.Identity in [
            .nfcV(uid: Array(uid.dropLast()), dsfid: 0), .nfcF(idm: uid, pmm: [], systemCode: nil),
            .nfcF(idm: uid + [9], pmm: uid, systemCode: nil), .nfcB(answer: bytes("50 11223344 00000000 0081")),
            .nfcB(answer: bytes("50 11223344 00000000 0081710000")),
            .nfcB(answer: bytes("51 11223344 00000000 008171")),
        ] { #expect(throws: TagError(.badAnswer, "")) { try TagTarget(wrong) } }
    }

    @Test func `An error of a link is the tag's, with the rule that was broken`() {
        let codes: [(LinkError.Code, TagError.Code)] = [
            (.timeout, .tagLost), (.tagRemoved, .tagLost), (.cancelled, .cancelled),
            (.readerUnavailable, .readerUnavailable),
            (.inUse, .readerUnavailable), (.unsupported, .unsupported), (.frameTooLong, .unsupported),
            (.collision, .badAnswer), (.transmission, .badAnswer), (.protocolViolation, .badAnswer),
        ]
        for (code, wanted) in codes {
            let error = LinkError(code, "Why.")
            let found = TagError(link: error, over: .nfcV)
            #expect(found.code == wanted && found.link == error)
            let isFatal = ![.timeout, .transmission, .collision].contains(code)
            #expect(TagError(fatal: error)?.code == (isFatal ? wanted : nil))
        }
        let rules: [(Technology?, String)] = [
            (.nfcA, "ISO/IEC 14443-3, 6.2"), (.nfcB, "ISO/IEC 14443-3, 7.1 and 7.2"),
            (.nfcF, "NFC Forum Digital 2.3, 8.3 and 8.4"),
            (.nfcV, "ISO/IEC 15693-3, 7"), (nil, "ISO/IEC 14443-3, 6.2 and 7.2"),
        ]
        for (technology, rule) in rules {
            func reason(_ code: LinkError.Code, _ reason: String) -> String {
                TagError(link: LinkError(code, reason), over: technology).reason
            }
            #expect(reason(.transmission, "Noise.") == "Noise (\(rule)).")
            #expect(reason(.transmission, "Noise") == "Noise (\(rule)).")
            #expect(reason(.transmission, "A rule (X, 1).") == "A rule (X, 1).")
            #expect(reason(.collision, "") == "More than one tag answered at once (\(rule)).")
        }
    }
}
