// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// Checks how a PN532 finds tags, and what it remembers of them (PN532 user manual, 7.3.5, 7.3.7 to 7.3.13).
@Suite struct `A PN532 that looks for tags` {
    private static let idm: [UInt8] = [0x02, 0xFE, 1, 2, 3, 4, 5, 6]
    private static let pmm: [UInt8] = [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00]
    private static let atqb: [UInt8] = [0x50, 1, 2, 3, 4, 0x21, 0, 0, 0, 0x00, 0x81, 0x75]

    private let field = VirtualField()

    private func chip(_ tags: any VirtualTag...) -> PN53xChip {
        for tag in tags { field.bring(tag) }
        return PN53xChip(field: field)
    }

    private static func ntag(_ last: UInt8 = 0x80) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last])
    }

    private static func ntagData(_ last: UInt8 = 0x80) -> [UInt8] {
        [0x00, 0x44, 0x00, 7, 0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last]
    }

    private static func typeB() -> VirtualType4Tag {
        let frontEnd = Type4FrontEnd.nfcB(
            pupi: [1, 2, 3, 4],
            applicationData: [0x21, 0, 0, 0],
            protocolInfo: [0x00, 0x81, 0x75]
        )
        return VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: frontEnd)
    }

    @Test(
        arguments: [
            [0x4A], [0x4A, 1], [0x4A, 0, 0], [0x4A, 3, 0], [0x4A, 1, 5], [0x4A, 1, 0, 1, 2, 3],
            [0x4A, 1, 0, 1, 2, 3, 4, 5], [0x4A, 1, 0, 0x89, 4, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80],
            // A UID of ten bytes has a mark in the first cascade level, and in the second.
            [0x4A, 1, 0, 0x88, 1, 2, 3, 0x89, 4, 5, 6, 7, 8, 9, 10],
            [0x4A, 1, 0, 0x89, 1, 2, 3, 0x88, 4, 5, 6, 7, 8, 9, 10],
            [0x4A, 1, 1], [0x4A, 1, 1, 0, 0xFF, 0xFF, 1], [0x4A, 1, 1, 1, 0xFF, 0xFF, 1, 0],
            [0x4A, 1, 2, 0, 0xFF, 0xFF, 1, 0, 0], [0x4A, 1, 3], [0x60], [0x60, 1, 1], [0x60, 0, 1, 0],
            [0x60, 1, 0, 0], [0x60, 1, 16, 0],
        ] as [[UInt8]]
    ) func `A command of another form is an error of its syntax`(command: [UInt8]) async {
        var chip = chip(Self.ntag())
        #expect(await chip.receive(command) == .syntaxError)
    }

    @Test func `A tag is listed by its UID, whole or as it goes through the cascade levels`() async {
        var chip = chip(Self.ntag(0x80), Self.ntag(0x81))
        _ = await chip.receive([0x32, 0x05, 0xFF, 0x01, 0x00])
        let uid: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x81]
        for wanted in [uid, [0x88] + uid] {
            #expect(await chip.receive([0x4A, 2, 0] + wanted) == .answer([1, 1] + Self.ntagData(0x81)))
            // It is the selected one.
            guard case .answer(let pages) = await chip.receive([0x40, 1, 0x30, 0]) else { continue }
            #expect(pages[8] == 0x81)
        }
        #expect(await chip.receive([0x4A, 1, 0, 9, 9, 9, 9]) == .answer([0]))
        #expect(await chip.receive([0x40, 1, 0x30, 0]) == .answer([0x27]))
        field.removeAll()
        let long: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        field.bring(VirtualType2Tag(Type2Contents(blank: .ultralight, uid: long)))
        let cascade: [UInt8] = [0x88, 1, 2, 3, 0x88, 4, 5, 6, 7, 8, 9, 10]
        for wanted in [long, cascade] {
            #expect(await chip.receive([0x4A, 1, 0] + wanted) == .answer([1, 1, 0x00, 0x44, 0x00, 10] + long))
        }
    }

    @Test func `Each of several halted tags is listed by its UID`() async {
        var chip = chip(Self.ntag(0x80), Self.ntag(0x81), Self.ntag(0x82))
        _ = await chip.receive([0x32, 0x05, 0xFF, 0x01, 0x00])
        // After the first round all three are halted.
        for last in [0x80, 0x81, 0x82, 0x80, 0x81, 0x82, 0x81, 0x80] as [UInt8] {
            let wanted: [UInt8] = [0x88, 0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, last]
            #expect(await chip.receive([0x4A, 1, 0] + wanted) == .answer([1, 1] + Self.ntagData(last)))
            // It is the selected one.
            guard case .answer(let pages) = await chip.receive([0x40, 1, 0x30, 0]) else { continue }
            #expect(pages.count == 17 && pages.dropFirst(8).first == last)
            #expect(await chip.receive([0x52, 0]) == .answer([0]))
        }
        // The start of a UID is not a UID.
        #expect(await chip.receive([0x4A, 1, 0, 0x88, 0x04, 0xA1, 0xB2]) == .answer([0]))
    }

    @Test func `A tag is listed by a UID of any length among others`() async {
        let tags: [(uid: [UInt8], atqa: UInt16, sak: UInt8, wanted: [UInt8])] = [
            ([1, 2, 3, 4], 0x0004, 0x08, [1, 2, 3, 4]),
            ([4, 2, 3, 4, 5, 6, 7], 0x0044, 0x00, [0x88, 4, 2, 3, 4, 5, 6, 7]),
            ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0x0084, 0x40, [0x88, 1, 2, 3, 0x88, 4, 5, 6, 7, 8, 9, 10]),
        ]
        for tag in tags { field.bring(NFCATag(NFCAContents(uid: tag.uid, atqa: tag.atqa, sak: tag.sak))) }
        var chip = chip()
        _ = await chip.receive([0x32, 0x05, 0xFF, 0x01, 0x00])
        for tag in tags + tags {
            let data = [0, UInt8(tag.atqa), tag.sak, UInt8(tag.uid.count)] + tag.uid
            #expect(await chip.receive([0x4A, 1, 0] + tag.wanted) == .answer([1, 1] + data))
        }
    }

    @Test func `No more tags are listed than were asked for`() async {
        var chip = chip(Self.ntag(0x80), Self.ntag(0x81), Self.ntag(0x82))
        for limit in [1, 2] as [UInt8] {
            guard case .answer(let list) = await chip.receive([0x4A, limit, 0]) else { continue }
            #expect(list.first == limit && list.count == 1 + 12 * Int(limit))
            #expect(
                await chip.receive([0x04]) == .answer([0, 0, limit] + (1...limit).flatMap { [$0, 0, 0, 0] } + [0])
            )
        }
    }

    @Test(arguments: [1, 2] as [UInt8]) func `A FeliCa card is listed as it answers, with its system or without`(
        speed: UInt8
    ) async {
        var chip = chip(VirtualType3Tag(FeliCaLiteSContents(idm: Self.idm)))
        let answer = [0x01] + Self.idm + Self.pmm
        #expect(await chip.receive([0x4A, 1, speed, 0, 0xFF, 0xFF, 0, 0]) == .answer([1, 1, 18] + answer))
        #expect(
            await chip.receive([0x4A, 1, speed, 0, 0x12, 0xFC, 1, 0]) == .answer([1, 1, 20] + answer + [0x12, 0xFC])
        )
        #expect(await chip.receive([0x04]) == .answer([0, 0, 1, 1, 1, 1, 0x10, 0]))
        let read = [0x06] + Self.idm + [1, 0x0B, 0, 1, 0x80, 0x85]
        guard case .answer(let block) = await chip.receive([0x40, 1, UInt8(read.count + 1)] + read) else { return }
        #expect(block.prefix(2) == [0, 29] && block.dropFirst(14).prefix(2) == [0x88, 0xB4])
        _ = await chip.receive([0x32, 0x05, 0xFF, 0x01, 0x00])
        #expect(await chip.receive([0x4A, 1, speed, 0, 0x00, 0x03, 1, 0]) == .answer([0]))
    }

    @Test func `A FeliCa card that was asked for its rates is still there`() async {
        var chip = chip(VirtualType3Tag(FeliCaLiteSContents(idm: Self.idm)))
        let answer = [0x01] + Self.idm + Self.pmm + [0x00, 0x83]
        #expect(await chip.receive([0x4A, 1, 1, 0, 0xFF, 0xFF, 2, 0]) == .answer([1, 1, 20] + answer))
        #expect(await chip.receive([0x00, 0x06]) == .answer([0]))
        field.removeAll()
        #expect(await chip.receive([0x00, 0x06]) == .answer([0x01]))
    }

    @Test func `A FeliCa card is still there while its system is, whatever others it has`() async {
        let systems = [0x0003, 0x88B4].map { FeliCaSystem(code: $0, files: []) }
        var chip = chip(VirtualType3Tag(FeliCaStandardContents(idm: Self.idm, pmm: Self.pmm, systems: systems)))
        // The highest four bits of the IDm count the systems.
        let answer: [UInt8] = [0x01, 0x12] + Self.idm.dropFirst() + Self.pmm + [0x88, 0xB4]
        #expect(await chip.receive([0x4A, 1, 1, 0, 0x88, 0xB4, 1, 0]) == .answer([1, 1, 20] + answer))
        #expect(await chip.receive([0x00, 0x06]) == .answer([0]))
    }

    @Test func `A Type B card is listed for its family, and a Topaz by its own command`() async {
        var chip = chip(Self.typeB())
        _ = await chip.receive([0x32, 0x05, 0xFF, 0x01, 0x00])
        for (family, isListed) in [(0x00, true), (0x21, true), (0x20, true), (0x30, false)] as [(UInt8, Bool)] {
            #expect(
                await chip.receive([0x4A, 1, 3, family]) == .answer(isListed ? [1, 1] + Self.atqb + [1, 1] : [0])
            )
        }
        field.removeAll()
        field.bring(VirtualType1Tag(.topaz512))
        let uid = VirtualType1Tag.defaultUID.prefix(4)
        #expect(await chip.receive([0x4A, 1, 4]) == .answer([1, 1, 0x0C, 0x00] + uid))
        #expect(await chip.receive([0x04]) == .answer([0, 0, 1, 1, 0, 0, 0x02, 0]))
        #expect(await chip.receive([0x4A, 1, 0]) == .answer([0]))
    }

    @Test func `Where there is no Topaz the chip waits for one, unless it was told not to`() async {
        var chip = chip(Self.ntag())
        #expect(await chip.receive([0x4A, 1, 4]) == .waiting)
        _ = await chip.receive([0x32, 0x05, 0xFF, 0x01, 0x00])
        #expect(await chip.receive([0x4A, 1, 4]) == .answer([0]))
    }

    // MARK: InAutoPoll

    @Test func `Each type of a poll finds its own tags`() async {
        let iso = VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]))
        let tags: [(tag: any VirtualTag, types: Set<UInt8>)] = [
            (Self.ntag(), [0x00, 0x10]), (iso, [0x00, 0x20]), (Self.typeB(), [0x03, 0x23]),
            (VirtualType3Tag(FeliCaLiteSContents(idm: Self.idm)), [0x01, 0x02, 0x11, 0x12]),
            (VirtualType1Tag(.topaz512), [0x04]),
        ]
        for (tag, types) in tags {
            field.removeAll()
            var chip = chip(tag)
            for type in [0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x10, 0x11, 0x12, 0x20, 0x23, 0x40] as [UInt8] {
                guard case .answer(let answer) = await chip.receive([0x60, 1, 1, type]) else {
                    Issue.record("The poll does not end.")
                    continue
                }
                #expect((answer != [0]) == types.contains(type), "\(tag) \(type)")
                guard answer.count > 3 else { continue }
                #expect(answer.prefix(4) == [1, type, UInt8(answer.count - 3), 1])
            }
        }
    }

    @Test func `The first type with a tag counts, of fifteen at most, and a poll may go on without end`() async {
        var chip = chip(Self.ntag())
        #expect(await chip.receive([0x60, 1, 15, 0x23, 0x10, 0x00]) == .answer([1, 0x10, 12, 1] + Self.ntagData()))
        #expect(await chip.receive([0x40, 1, 0x30, 0xFF]) == .answer([0x13]))
        let fourteen = [UInt8](repeating: 0x23, count: 14)
        #expect(await chip.receive([0x60, 2, 1] + fourteen + [0x00]) != .answer([0]))
        #expect(await chip.receive([0x60, 2, 1] + fourteen + [0x23, 0x00]) == .answer([0]))
        #expect(await chip.receive([0x60, 0xFE, 1, 0x23]) == .answer([0]))
        #expect(await chip.receive([0x60, 0xFF, 1, 0x23]) == .waiting)
    }

    @Test func `A tag that is of another kind than a poll's first type is found by its second`() async {
        var cards = chip(VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)])))
        guard case .answer(let card) = await cards.receive([0x60, 1, 1, 0x10, 0x20]) else { return }
        #expect(card.prefix(2) == [1, 0x20])
        field.removeAll()
        var tags = chip(Self.ntag())
        guard case .answer(let tag) = await tags.receive([0x60, 1, 1, 0x20, 0x10]) else { return }
        #expect(tag.prefix(2) == [1, 0x10])
    }

    // MARK: Letting go

    @Test func `A tag is let go, forgotten and selected by its number`() async {
        var chip = chip(Self.ntag(0x80), Self.ntag(0x81))
        _ = await chip.receive([0x4A, 2, 0])
        for code in [0x44, 0x52, 0x54] as [UInt8] {
            #expect(await chip.receive([code]) == .syntaxError)
            #expect(await chip.receive([code, 1, 1]) == .syntaxError)
            #expect(await chip.receive([code, 3]) == .answer([0x27]))
        }
        #expect(await chip.receive([0x54, 0]) == .answer([0x27]))
        #expect(await chip.receive([0x54, 1]) == .answer([0]))
        #expect(await chip.receive([0x54, 1]) == .answer([0]))
        #expect(await chip.receive([0x44, 0]) == .answer([0]))
        // It is selected again by itself.
        for number in [2, 1] as [UInt8] {
            guard case .answer(let pages) = await chip.receive([0x40, number, 0x30, 0]) else { continue }
            #expect(pages.count == 17)
        }
        #expect(await chip.receive([0x52, 1]) == .answer([0]))
        #expect(await chip.receive([0x40, 1, 0x30, 0]) == .answer([0x27]))
        #expect(await chip.receive([0x54, 1]) == .answer([0x27]))
        #expect(await chip.receive([0x04]) == .answer([0, 0, 1, 2, 0, 0, 0, 0]))
        guard case .answer(let pages) = await chip.receive([0x40, 2, 0x30, 0]) else { return }
        #expect(pages.count == 17)
        #expect(await chip.receive([0x52, 0]) == .answer([0]))
        #expect(await chip.receive([0x04]) == .answer([0, 0, 0, 0]))
    }

    @Test func `A tag that has left is not selected, and not there`() async {
        let tag = Self.ntag(0x80)
        var chip = chip(tag, Self.ntag(0x81))
        _ = await chip.receive([0x4A, 2, 0])
        guard case .answer(let first) = await chip.receive([0x40, 1, 0x30, 0]) else { return }
        field.removeAll()
        #expect(first.count == 17)
        #expect(await chip.receive([0x00, 0x06]) == .answer([0x01]))
        #expect(await chip.receive([0x54, 2]) == .answer([0x01]))
        #expect(await chip.receive([0x40, 2, 0x30, 0]) == .answer([0x01]))
        field.bring(tag)
        _ = await chip.receive([0x4A, 1, 0])
        #expect(await chip.receive([0x00, 0x06]) == .answer([0]))
    }
}
