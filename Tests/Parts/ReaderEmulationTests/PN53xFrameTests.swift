// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// A tag whose only answer a test chooses.
private final class OddTag: VirtualTag {
    let technology: Technology
    let identifier: [UInt8] = [2, 0xFE, 1, 2, 3, 4, 5, 6]
    private let bytes: [UInt8]

    init(_ technology: Technology, _ bytes: [UInt8]) {
        self.technology = technology
        self.bytes = bytes
    }

    func answer(_ request: Frame, disturbance: Disturbance?) -> TagAnswer? { TagAnswer(Frame(bytes)) }
    func losePower() {}
}

/// A field that counts how often its carrier is switched.
private final class CountingField: ForwardingField {
    let field: any FieldDriver = VirtualField()
    let carriers = Locked<[Bool]>([])

    func setCarrier(_ isOn: Bool) async throws(LinkError) {
        carriers.withLock { $0.append(isOn) }
        try await field.setCarrier(isOn)
    }
}

/// Checks which frames a PN532 sends to tags for a host's command, and what it makes of odd answers.
@Suite struct `What a PN532 sends to tags` {
    private static let idm: [UInt8] = [0x02, 0xFE, 1, 2, 3, 4, 5, 6]
    private static let pmm: [UInt8] = [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00]

    private let field = VirtualField()

    /// A chip that does not wait for tags.
    private func chip(_ tags: any VirtualTag...) async -> PN53xChip {
        for tag in tags { field.bring(tag) }
        var chip = PN53xChip(field: field)
        _ = await chip.receive([0x32, 0x05, 0xFF, 0x01, 0x00])
        return chip
    }

    /// The frames that go out during a command.
    private func sent(_ command: [UInt8], by chip: inout PN53xChip) async -> [[UInt8]] {
        field.startRecording()
        _ = await chip.receive(command)
        return field.stopRecording().map(\.request.bytes)
    }

    private static func ntag(_ last: UInt8 = 0x80) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last])
    }

    @Test func `A Topaz gets the bytes that its host has left out`() async {
        var chip = await chip(VirtualType1Tag(.topaz512))
        _ = await chip.receive([0x4A, 1, 4])
        let uid = Array(VirtualType1Tag.defaultUID.prefix(4))
        #expect(await sent([0x40, 1, 0x00], by: &chip) == [[0x00, 0, 0] + uid])
        #expect(await sent([0x40, 1, 0x01, 0x08], by: &chip) == [[0x01, 0x08, 0] + uid])
        #expect(await sent([0x40, 1, 0x53, 0x10, 0x77], by: &chip) == [[0x53, 0x10, 0x77] + uid])
        #expect(await sent([0x40, 1, 0x01, 0x08, 0, 9, 9, 9, 9], by: &chip) == [[0x01, 0x08, 0, 9, 9, 9, 9]])
        #expect(await sent([0x40, 1, 0x78], by: &chip) == [[0x78]])
    }

    @Test func `A selected tag is put to sleep once, when it is let go or another is looked for`() async {
        var chip = await chip(Self.ntag())
        _ = await chip.receive([0x4A, 1, 0])
        #expect(await sent([0x54, 1], by: &chip).isEmpty)
        for ending in [[0x44, 1], [0x44, 0], [0x52, 0]] as [[UInt8]] {
            #expect(await sent(ending, by: &chip) == [[0x50, 0x00]])
            #expect(await sent(ending, by: &chip).isEmpty)
            _ = await chip.receive([0x4A, 1, 0])
        }
        #expect(await sent([0x4A, 1, 0], by: &chip).first == [0x50, 0x00])
    }

    @Test func `A card that speaks ISO-DEP is deselected, and nothing else is sent to it`() async {
        var chip = await chip(VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)])))
        _ = await chip.receive([0x4A, 1, 0])
        #expect(await sent([0x44, 1], by: &chip) == [[0xC2]])
    }

    @Test func `Of two tags the selected one is put to sleep, and then the other is selected`() async {
        let pupis: [[UInt8]] = [[2, 3, 4, 5], [6, 7, 8, 9]]
        for pupi in pupis {
            // Without ISO-DEP, it is put to sleep by its PUPI.
            let frontEnd = Type4FrontEnd.nfcB(pupi: pupi, protocolInfo: [0x00, 0x80, 0x71])
            field.bring(VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: frontEnd))
        }
        var chip = await chip()
        guard case .answer(let list) = await chip.receive([0x4A, 2, 3, 0]), list.count == 29 else {
            Issue.record("Both cards have to be listed.")
            return
        }
        // The number, 50, the PUPI and seven bytes more of each; and no answer to ATTRIB.
        #expect(list[14] == 0 && list[28] == 0)
        let listed = [list[3..<7], list[17..<21]].map { Array($0) }
        #expect(Set(listed) == Set(pupis))
        // The second one is selected at first.
        for number in [1, 2] as [UInt8] {
            let former = listed[number == 1 ? 1 : 0]
            #expect(await sent([0x54, number], by: &chip).first == [0x50] + former)
        }
        #expect(await sent([0x4A, 1, 3, 0], by: &chip).first == [0x50] + listed[1])
    }

    @Test func `All targets are forgotten at once, the first one too`() async {
        var chip = await chip(Self.ntag(0x80), Self.ntag(0x81))
        _ = await chip.receive([0x4A, 2, 0])
        #expect(await chip.receive([0x04]) == .answer([0, 0, 2, 1, 0, 0, 0, 2, 0, 0, 0, 0]))
        #expect(await chip.receive([0x52, 0]) == .answer([0]))
        #expect(await chip.receive([0x04]) == .answer([0, 0, 0, 0]))
        #expect(await chip.receive([0x40, 1, 0x30, 0]) == .answer([0x27]))
    }

    // MARK: Polling

    @Test func `A poll asks for any FeliCa card, and for Type B cards of every family`() async {
        var chip = await chip(VirtualType3Tag(FeliCaLiteSContents(idm: Self.idm)))
        let answer: [UInt8] = [1, 18, 0x01] + Self.idm + Self.pmm
        for type in [0x01, 0x11, 0x02, 0x12] as [UInt8] {
            #expect(await sent([0x60, 1, 1, type], by: &chip) == [[6, 0x00, 0xFF, 0xFF, 0x00, 0x00]])
            #expect(await chip.receive([0x60, 1, 1, type]) == .answer([1, type, 19] + answer))
        }
        for type in [0x03, 0x23] as [UInt8] {
            #expect(await sent([0x60, 1, 1, type], by: &chip).first?.prefix(2) == [0x05, 0x00])
        }
    }

    @Test func `A poll finds one tag, though there are two`() async {
        var chip = await chip(Self.ntag(0x80), Self.ntag(0x81))
        guard case .answer(let found) = await chip.receive([0x60, 1, 1, 0x10]) else { return }
        #expect(found.prefix(4) == [1, 0x10, 12, 1] && found.count == 15)
        #expect(await chip.receive([0x04]) == .answer([0, 0, 1, 1, 0, 0, 0, 0]))
    }

    @Test func `The family of Type B cards is a host's first byte, and the way to look for them its second`() async {
        let frontEnd = Type4FrontEnd.nfcB(
            pupi: [1, 2, 3, 4],
            applicationData: [0x21, 0, 0, 0],
            protocolInfo: [0x00, 0x81, 0x75]
        )
        var chip = await chip(VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: frontEnd))
        #expect(await chip.receive([0x4A, 1, 3, 0x30, 0x00]) == .answer([0]))
        #expect(await chip.receive([0x4A, 1, 3, 0x21, 0x01]) != .answer([0]))
    }

    @Test func `A tag's ATQA comes with its high byte first`() async {
        var chip = await chip(NFCATag(NFCAContents(uid: [1, 2, 3, 4], atqa: 0x0301, sak: 0x08)))
        #expect(await chip.receive([0x4A, 1, 0]) == .answer([1, 1, 0x03, 0x01, 0x08, 4, 1, 2, 3, 4]))
    }

    @Test func `A FeliCa card has 22 milliseconds for its answer`() async {
        var chip = await chip()
        field.startRecording()
        #expect(await chip.receive([0x4A, 1, 1, 0, 0xFF, 0xFF, 0, 0]) == .answer([0]))
        let records = field.stopRecording()
        #expect(records.map(\.request.bytes) == [[6, 0x00, 0xFF, 0xFF, 0x00, 0x00]])
        let silence = field.exchange(Frame([6, 0x00, 0xFF, 0xFF, 0x00, 0x00]), over: .nfcF, timeout: .milliseconds(22))
        #expect(records.first?.elapsed == silence.elapsed)
    }

    @Test func `An answer to FeliCa's polling that has another form is no card`() async {
        var chip = await chip()
        let rest = Self.idm + Self.pmm
        // The length, the code, and so many bytes.
        let answers: [(length: UInt8, code: UInt8, count: Int)] = [
            (17, 1, 16), (19, 1, 17), (21, 1, 19), (18, 0, 16), (18, 3, 16), (18, 1, 15), (20, 1, 17), (18, 1, 0),
        ]
        for answer in answers {
            field.removeAll()
            field.bring(OddTag(.nfcF, [answer.length, answer.code] + (rest + [0, 0, 0]).prefix(answer.count)))
            #expect(await chip.receive([0x4A, 1, 1, 0, 0xFF, 0xFF, 1, 0]) == .answer([0]), "\(answer)")
        }
    }

    @Test func `Of two FeliCa cards that answer one after the other the first is listed`() async {
        let first: [UInt8] = [18, 0x01] + Self.idm + Self.pmm
        let second: [UInt8] = [18, 0x01] + Self.idm.reversed() + Self.pmm
        var chip = await chip(OddTag(.nfcF, first + second))
        #expect(await chip.receive([0x4A, 1, 1, 0, 0xFF, 0xFF, 0, 1]) == .answer([1, 1] + first))
    }

    // MARK: The field

    @Test func `The carrier is switched only where it changes`() async {
        let counting = CountingField()
        var chip = PN53xChip(field: counting)
        _ = await chip.receive([0x4A, 1, 0])
        for isOn in [1, 0, 0, 1, 1] as [UInt8] { _ = await chip.receive([0x32, 1, isOn]) }
        #expect(counting.carriers.withLock { $0 } == [false, true])
        // Without power there is no field, and with it there is one.
        await chip.reset()
        #expect(counting.carriers.withLock { $0 } == [false, true, false, true])
        _ = await chip.receive([0x32, 1, 0])
        await chip.reset()
        #expect(counting.carriers.withLock { $0 } == [false, true, false, true, false, true])
    }

    @Test func `The first of two tags is the one that a host hears of when it is gone`() async {
        let tags = [Self.ntag(0x80), Self.ntag(0x81)]
        var chip = await chip(tags[0], tags[1])
        guard case .answer(let list) = await chip.receive([0x4A, 2, 0]), list.count == 25 else {
            Issue.record("Both tags have to be listed.")
            return
        }
        let (first, second) = list[12] == 0x80 ? (tags[0], tags[1]) : (tags[1], tags[0])
        field.remove(first)
        #expect(await chip.receive([0x00, 0x06]) == .answer([0x01]))
        field.bring(first)
        field.remove(second)
        #expect(await chip.receive([0x00, 0x06]) == .answer([0]))
    }

    @Test func `A tag has 51.2 milliseconds where the host says nothing`() async {
        var chip = await chip(Self.ntag())
        _ = await chip.receive([0x4A, 1, 0])
        field.removeAll()
        field.startRecording()
        #expect(await chip.receive([0x40, 1, 0x30, 0]) == .answer([0x01]))
        let records = field.stopRecording()
        let silence = field.exchange(Frame([0x30, 0]), over: .nfcA, timeout: .microseconds(51_200))
        #expect(records.map(\.elapsed) == [silence.elapsed])
    }

    @Test func `A card that was let go, or had no power, is selected again before its next command`() async {
        let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00]
        let polling: [UInt8] = [6, 0x00, 0xFF, 0xFF, 0x00, 0x00]
        let polled: [UInt8] = [18, 0x01] + Self.idm + Self.pmm
        let cases: [(tag: any VirtualTag, list: [UInt8], command: [UInt8], answer: [UInt8])] = [
            (VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)])), [0], select, [0x90, 0x00]),
            (VirtualType1Tag(.topaz512), [4], [0x01, 0x08], [0x08, 0xE1]),
            (VirtualType3Tag(FeliCaLiteSContents(idm: Self.idm)), [1, 0, 0xFF, 0xFF, 0, 0], polling, polled),
        ]
        for (tag, list, command, answer) in cases {
            field.removeAll()
            var chip = await chip(tag)
            _ = await chip.receive([0x4A, 1] + list)
            for endings in [[[0x44, 1]], [[0x32, 1, 0], [0x32, 1, 1]], [[0x44, 0], [0x54, 1]]] as [[[UInt8]]] {
                for ending in endings { _ = await chip.receive(ending) }
                #expect(await chip.receive([0x40, 1] + command) == .answer([0] + answer), "\(list) \(endings)")
            }
        }
    }

    @Test func `A card is not there where there is no field`() async {
        let frontEnd = Type4FrontEnd.nfcB(pupi: [1, 2, 3, 4], protocolInfo: [0x00, 0x80, 0x71])
        let tags: [(tag: any VirtualTag, list: [UInt8])] = [
            (VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: frontEnd), [3, 0]),
            (VirtualType3Tag(FeliCaLiteSContents(idm: Self.idm)), [1, 0, 0xFF, 0xFF, 0, 0]),
            (Self.ntag(), [0]),
        ]
        for (tag, list) in tags {
            field.removeAll()
            var chip = await chip(tag)
            _ = await chip.receive([0x4A, 1] + list)
            #expect(await chip.receive([0x00, 0x06]) == .answer([0]))
            _ = await chip.receive([0x32, 1, 0])
            #expect(await chip.receive([0x00, 0x06]) == .answer([0x01]))
            _ = await chip.receive([0x32, 1, 1])
        }
    }

    @Test func `Of two cards that speak ISO-DEP the second one has begun with it, and each answers`() async {
        let uids: [[UInt8]] = [[4, 1, 2, 3, 4, 5, 6], [4, 1, 2, 3, 4, 5, 7]]
        for uid in uids {
            var card = ScriptedCard()
            card.answer([1], with: uid)
            let frontEnd = Type4FrontEnd.nfcA(uid: uid, ats: [5, 0x78, 0x80, 0x70, 2])
            field.bring(VirtualType4Tag(card: card, frontEnd: frontEnd))
        }
        var chip = await chip()
        guard case .answer(let list) = await chip.receive([0x4A, 2, 0]), list.count == 30 else {
            Issue.record("Both cards have to be listed, the second one with its ATS.")
            return
        }
        let listed = [list[6..<13], list[18..<25]].map { Array($0) }
        #expect(Set(listed) == Set(uids))
        for number in [2, 1, 2] as [UInt8] {
            #expect(await chip.receive([0x40, number, 1]) == .answer([0] + listed[Int(number) - 1]), "\(number)")
        }
    }
}
