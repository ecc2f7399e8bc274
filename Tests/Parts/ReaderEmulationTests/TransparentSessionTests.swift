// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import Testing
import VirtualTags

/// Checks transparent sessions with an emulated reader (PC/SC part 3, amendment 1).
@Suite struct `A transparent session` {
    private static let done: [UInt8] = [0xC0, 3, 0, 0x90, 0x00]
    private static let finish: [UInt8] = [0x90, 0x00]
    private static let readBlock: [UInt8] = [0x02, 0x20, 0x05]

    private let field = VirtualField()

    private func reader(_ tag: any VirtualTag = VirtualType5Tag(.icodeSLIX)) async -> EmulatedReader {
        field.bring(tag)
        var reader = EmulatedReader(.acr1552u, field: field)
        #expect(await reader.look() == .init(hasFound: true))
        _ = await reader.setPower(.up)
        return reader
    }

    private static func send(
        _ objects: [UInt8],
        _ kind: UInt8,
        p1: UInt8 = 0,
        to reader: inout EmulatedReader
    ) async -> [UInt8] {
        let reply = await reader.transmit([0xFF, 0xC2, p1, kind, UInt8(objects.count)] + objects)
        guard case .done(let bytes) = reply else { return [] }
        return bytes
    }

    private static func failed(_ object: UInt8, _ status: [UInt8]) -> [UInt8] { [0xC0, 3, object] + status + finish }

    @Test func `Another parameter is a function that is not there`() async {
        var reader = await reader()
        #expect(await Self.send([0x81, 0], 0x00, p1: 1, to: &reader) == [0x6A, 0x81])
        #expect(await Self.send([0x81, 0], 0x03, to: &reader) == [0x6A, 0x81])
        #expect(await Self.send([0x81, 0], 0x00, to: &reader) == Self.done + Self.finish)
    }

    @Test(
        arguments: [
            ([0x81], 0, [0x67, 0]), ([0x81, 1], 0, [0x67, 0]), ([0x5F], 0, [0x67, 0]), ([0x5F, 0x46], 0, [0x67, 0]),
            ([0x81, 0x81], 0, [0x67, 0]), ([0x81, 0x82, 0], 0, [0x67, 0]), ([0x81, 0x83, 0, 0, 0], 0, [0x67, 0]),
            ([0x81, 0, 0x85, 0], 2, [0x6A, 0x81]), ([0x5F, 0x46, 3, 0, 0, 0], 1, [0x67, 0]),
            ([0x80, 0, 0x81, 0, 0x5F, 0x46, 5, 0, 0, 0, 0, 0], 3, [0x67, 0]),
        ] as [([UInt8], UInt8, [UInt8])]
    ) func `An object of another form is named by its number`(objects: [UInt8], object: UInt8, status: [UInt8]) async {
        var reader = await reader()
        #expect(await Self.send(objects, 0x00, to: &reader) == Self.failed(object, status))
    }

    @Test func `Lengths have one, two or three bytes`() async {
        var reader = await reader()
        let version: [UInt8] = [0x80, 3, 1, 0, 0]
        #expect(await Self.send([0x80, 0], 0x00, to: &reader) == Self.done + version + Self.finish)
        #expect(
            await Self.send([0x81, 0x81, 0, 0x80, 0x82, 0, 0], 0x00, to: &reader) == Self.done + version + Self.finish
        )
        #expect(
            await Self.send([0x95, 0x81, 3] + Self.readBlock, 0x01, to: &reader).prefix(14)
                == Self.done + [0x92, 1, 0, 0x96, 2, 0, 0, 0x97, 5]
        )
    }

    @Test func `It has to be open, and have a frame`() async {
        var reader = await reader()
        let frame = [0x95, 3] + Self.readBlock
        #expect(await Self.send(frame, 0x01, to: &reader) == Self.failed(0, [0x69, 0x85]))
        #expect(await Self.send([0x8F, 2, 2, 0], 0x02, to: &reader) == Self.failed(1, [0x6A, 0x81]))
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await Self.send([], 0x01, to: &reader) == Self.failed(0, [0x69, 0x85]))
        #expect(await Self.send([0x95, 0], 0x01, to: &reader) == Self.failed(0, [0x69, 0x85]))
        #expect(await Self.send(frame, 0x01, to: &reader).count == 21)
        _ = await Self.send([0x82, 0], 0x00, to: &reader)
        #expect(await Self.send(frame, 0x01, to: &reader) == Self.failed(0, [0x69, 0x85]))
    }

    @Test(
        arguments: [
            ([0x90, 1, 0], 1, [0x67, 0]), ([0x91, 2, 0, 0], 1, [0x67, 0]),
            ([0x90, 2, 0, 0, 0x5F, 0x46, 1, 0], 2, [0x67, 0]),
            ([0x94, 0], 1, [0x6A, 0x81]), ([0x91, 1, 0, 0x99, 0], 2, [0x6A, 0x81]),
        ] as [([UInt8], UInt8, [UInt8])]
    ) func `An exchange names the object that is wrong`(objects: [UInt8], object: UInt8, status: [UInt8]) async {
        var reader = await reader()
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await Self.send(objects, 0x01, to: &reader) == Self.failed(object, status))
    }

    @Test(
        arguments: [
            ([0x8E, 2, 2, 0], [0x67, 0]), ([0x8F, 1, 2], [0x67, 0]), ([], [0x67, 0]), ([0x8F, 2, 4, 0], [0x6A, 0x81]),
            ([0x8F, 2, 2, 5], [0x6A, 0x81]),
        ] as [([UInt8], [UInt8])]
    ) func `A protocol is one of four, with a layer up to 4`(objects: [UInt8], status: [UInt8]) async {
        var reader = await reader()
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await Self.send(objects, 0x02, to: &reader) == Self.failed(1, status))
    }

    @Test func `A layer of 3 or 4 selects the tag and gives its ATR, and a lower one does not`() async {
        var reader = await reader()
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        for layer in [0, 2] as [UInt8] {
            #expect(await Self.send([0x8F, 2, 2, layer], 0x02, to: &reader) == Self.done + Self.finish)
        }
        for layer in [3, 4] as [UInt8] {
            let answer = await Self.send([0x8F, 2, 2, layer], 0x02, to: &reader)
            #expect(answer.prefix(8) == Self.done + [0x5F, 0x51, 20] && answer.count == 8 + 20 + 2)
        }
        // The tag is gone.
        field.removeAll()
        #expect(await Self.send([0x8F, 2, 2, 3], 0x02, to: &reader) == Self.failed(1, [0x64, 0x01]))
    }

    @Test func `A frame goes out with the flags, bits and time that were set before`() async throws {
        var reader = await reader(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        _ = await Self.send([0x81, 0, 0x84, 0], 0x00, to: &reader)
        let read: [UInt8] = [0x30, 0x04]
        let checked = read + CyclicRedundancyCheck.a(read).littleEndianBytes
        #expect(await Self.send([0x95, 2] + read, 0x01, to: &reader).count == 5 + 3 + 4 + 2 + 16 + 2)
        // Neither checksum is the reader's.
        #expect(
            await Self.send([0x90, 2, 0x00, 0x03, 0x95, 4] + checked, 0x01, to: &reader).count
                == 5 + 3 + 4 + 2 + 18 + 2
        )
        // The sent one is the reader's, and the received one is not.
        #expect(
            await Self.send([0x90, 2, 0x02, 0x00, 0x95, 2] + read, 0x01, to: &reader).count == 5 + 3 + 4 + 2 + 18 + 2
        )
        // A NAK has four bits, and puts the tag to sleep.
        #expect(
            await Self.send([0x95, 2, 0x30, 0xFF], 0x01, to: &reader)
                == Self.done + [0x92, 1, 4, 0x96, 2, 0, 0, 0x97, 1, 0x00] + Self.finish
        )
        #expect(await Self.send([0x95, 1, 0x52], 0x01, to: &reader) == Self.failed(1, [0x64, 0x01]))
        #expect(
            await Self.send([0x90, 2, 0, 3, 0x91, 1, 7, 0x95, 1, 0x52], 0x01, to: &reader)
                == Self.done + [0x92, 1, 0, 0x96, 2, 0, 0, 0x97, 2, 0x44, 0x00] + Self.finish
        )
        // What is sent alone has no answer, whatever comes.
        #expect(await Self.send([0x93, 1, 0x52], 0x01, to: &reader) == Self.done + Self.finish)
        let link = try #require(field.link(for: .nfcA))
        for (time, microseconds) in [([0xE8, 3, 0, 0], 1000), ([0xFF, 0xFF, 0xFF, 0xFF], 5_000_000)]
            as [([UInt8], Int64)]
        {
            let before = link.statistics.airtime
            #expect(
                await Self.send([0x5F, 0x46, 4] + time + [0x91, 1, 0, 0x95, 1, 0x60], 0x01, to: &reader)
                    == Self.failed(3, [0x64, 0x01])
            )
            let elapsed = (link.statistics.airtime - before).microseconds
            #expect((microseconds...microseconds + 1000).contains(elapsed), "\(elapsed)")
        }
    }

    @Test func `A last byte of 0 bits is a whole one, whatever the reserved bits are`() async throws {
        var reader = await reader()
        let frame = [0x95, 3] + Self.readBlock
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        for bits in [0x00, 0xF8] as [UInt8] {
            #expect(await Self.send([0x91, 1, 7] + frame, 0x01, to: &reader) == Self.failed(2, [0x64, 0x01]))
            let answer = await Self.send([0x91, 1, bits] + frame, 0x01, to: &reader)
            try #require(answer.count == 21, "\(bits)")
        }
    }

    @Test func `A session that begins anew has no setting of before, and the card's power ends it`() async {
        var reader = await reader(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        let read: [UInt8] = [0x95, 2, 0x30, 0x04]
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        // The host's own checksums, and a frame of seven bits.
        #expect(await Self.send([0x90, 2, 0, 3, 0x91, 1, 7], 0x01, to: &reader) == Self.failed(0, [0x69, 0x85]))
        #expect(await Self.send(read, 0x01, to: &reader) == Self.failed(1, [0x64, 0x01]))
        _ = await reader.setPower(.up)
        for power in [EmulatedReader.Power.up, .reset] {
            for _ in 0..<2 {
                #expect(await Self.send([0x81, 0], 0x00, to: &reader) == Self.done + Self.finish)
                #expect(await Self.send(read, 0x01, to: &reader).count == 5 + 3 + 4 + 2 + 16 + 2)
                // For the next one.
                _ = await Self.send([0x90, 2, 0, 3], 0x01, to: &reader)
            }
            _ = await reader.setPower(power)
            #expect(await Self.send(read, 0x01, to: &reader) == Self.failed(0, [0x69, 0x85]))
        }
        // A host that comes anew finds none either.
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await reader.lookAnew() == .init(hasFound: true))
        #expect(await Self.send(read, 0x01, to: &reader) == Self.failed(0, [0x69, 0x85]))
    }

    @Test func `It ends when the card's power goes`() async {
        var reader = await reader()
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await reader.setPower(.down) == .done([]))
        #expect(await Self.send([0x95, 3] + Self.readBlock, 0x01, to: &reader) == Self.failed(0, [0x69, 0x85]))
    }

    @Test func `A time that is set for the session is that of its frames`() async throws {
        var reader = await reader(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        let time: [UInt8] = [0x81, 0, 0x5F, 0x46, 4, 0xE8, 3, 0, 0]
        #expect(await Self.send(time, 0x00, to: &reader) == Self.done + Self.finish)
        let link = try #require(field.link(for: .nfcA))
        let before = link.statistics.airtime
        field.removeAll()
        #expect(await Self.send([0x95, 2, 0x30, 4], 0x01, to: &reader) == Self.failed(1, [0x64, 0x01]))
        let elapsed = (link.statistics.airtime - before).microseconds
        #expect((1000...2000).contains(elapsed), "\(elapsed)")
    }

    @Test func `A frame waits 50 milliseconds where no time is set`() async throws {
        var reader = await reader(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        let link = try #require(field.link(for: .nfcA))
        let before = link.statistics.airtime
        field.removeAll()
        #expect(await Self.send([0x95, 2, 0x30, 4], 0x01, to: &reader) == Self.failed(1, [0x64, 0x01]))
        let elapsed = (link.statistics.airtime - before).microseconds
        #expect((50_000...51_000).contains(elapsed), "\(elapsed)")
    }

    @Test func `A frame that is only sent has no answer, though the tag gives one`() async {
        var reader = await reader()
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await Self.send([0x95, 3] + Self.readBlock, 0x01, to: &reader).count == 21)
        #expect(await Self.send([0x93, 3] + Self.readBlock, 0x01, to: &reader) == Self.done + Self.finish)
    }

    @Test func `Frames go to the technology that was switched to, also beside the card`() async {
        var reader = await reader()
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await Self.send([0x8F, 2, 0, 0], 0x02, to: &reader) == Self.done + Self.finish)
        #expect(
            await Self.send([0x90, 2, 0, 3, 0x91, 1, 7, 0x95, 1, 0x26], 0x01, to: &reader)
                == Self.done + [0x92, 1, 0, 0x96, 2, 0, 0, 0x97, 2, 0x44, 0x00] + Self.finish
        )
    }

    private static func card(_ frontEnd: Type4FrontEnd? = nil) -> VirtualType4Tag {
        VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]), frontEnd: frontEnd)
    }

    @Test func `Each of the four standards has its number, and a switch to another one leaves the card`() async {
        let tags: [(standard: UInt8, tag: any VirtualTag)] = [
            (0, VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80])),
            (1, Self.card(.nfcB(pupi: [1, 2, 3, 4]))), (2, VirtualType5Tag(.icodeSLIX)),
            (3, VirtualType3Tag(FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, 6]))),
        ]
        for (own, tag) in tags {
            field.removeAll()
            var reader = await reader(tag)
            _ = await Self.send([0x81, 0], 0x00, to: &reader)
            for standard in UInt8(0)...3 {
                let answer = await Self.send([0x8F, 2, standard, 4], 0x02, to: &reader)
                if standard == own {
                    #expect(answer.starts(with: Self.done + [0x5F, 0x51]), "\(own)")
                } else {
                    #expect(answer == Self.failed(1, [0x64, 0x01]), "\(own) \(standard)")
                }
                #expect(await reader.transmit([0xFF, 0xCA, 0, 0, 0]) == .done(tag.identifier + Self.finish))
            }
        }
    }

    @Test func `A card that speaks ISO-DEP is selected anew, and hears its commands`() async {
        let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00]
        for (standard, frontEnd) in [(0, nil), (1, .nfcB(pupi: [1, 2, 3, 4]))] as [(UInt8, Type4FrontEnd?)] {
            field.removeAll()
            var reader = await reader(Self.card(frontEnd))
            #expect(await reader.transmit(select) == .done(Self.finish))
            _ = await Self.send([0x81, 0], 0x00, to: &reader)
            for _ in 0..<2 {
                let answer = await Self.send([0x8F, 2, standard, 4], 0x02, to: &reader)
                #expect(answer.starts(with: Self.done + [0x5F, 0x51]), "\(standard)")
                #expect(await reader.transmit(select) == .done(Self.finish))
            }
        }
    }

    @Test func `RATS is the host's to send in layer 3, and the reader's in layer 4`() async {
        var reader = await reader(Self.card())
        let head = Self.done + [0x92, 1, 0, 0x96, 2, 0, 0, 0x97, 5]
        let ats = head + [5, 0x78, 0x80, 0x70, 2] + Self.finish
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        for (layer, answer) in [(3, ats), (4, Self.failed(1, [0x64, 0x01])), (3, ats)] as [(UInt8, [UInt8])] {
            #expect(await Self.send([0x8F, 2, 0, layer], 0x02, to: &reader).prefix(7) == Self.done + [0x5F, 0x51])
            #expect(await Self.send([0x95, 2, 0xE0, 0x80], 0x01, to: &reader) == answer, "\(layer)")
        }
    }

    @Test func `A layer of 3 turns the field on, in which the tag is selected`() async {
        var reader = await reader()
        _ = await Self.send([0x81, 0, 0x83, 0], 0x00, to: &reader)
        let answer = await Self.send([0x8F, 2, 2, 3], 0x02, to: &reader)
        #expect(answer.prefix(8) == Self.done + [0x5F, 0x51, 20] && answer.count == 8 + 20 + 2)
    }

    @Test func `One command may turn the field off and on, and a tag forgets then`() async {
        var reader = await reader(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        let read: [UInt8] = [0x95, 2, 0x30, 0x04]
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await Self.send(read, 0x01, to: &reader).count == 5 + 3 + 4 + 2 + 16 + 2)
        #expect(await Self.send([0x83, 0, 0x84, 0], 0x00, to: &reader) == Self.done + Self.finish)
        // The tag has to be selected again.
        #expect(await Self.send(read, 0x01, to: &reader) == Self.failed(1, [0x64, 0x01]))
        #expect(
            await Self.send([0x90, 2, 0, 3, 0x91, 1, 7, 0x95, 1, 0x26], 0x01, to: &reader)
                == Self.done + [0x92, 1, 0, 0x96, 2, 0, 0, 0x97, 2, 0x44, 0x00] + Self.finish
        )
        #expect(await Self.send([0x84, 0, 0x83, 0], 0x00, to: &reader) == Self.done + Self.finish)
        #expect(await Self.send([0x95, 1, 0x52], 0x01, to: &reader) == Self.failed(1, [0x64, 0x01]))
    }

    @Test(arguments: [[0x85, 0], [0x5F, 0x46, 1, 0]] as [[UInt8]])
    func `The objects before one that fails have their effect`(bad: [UInt8]) async {
        var reader = await reader()
        let status: [UInt8] = bad.count == 2 ? [0x6A, 0x81] : [0x67, 0x00]
        #expect(await Self.send([0x81, 0, 0x83, 0] + bad, 0x00, to: &reader) == Self.failed(3, status))
        #expect(await Self.send([0x95, 3] + Self.readBlock, 0x01, to: &reader) == Self.failed(1, [0x64, 0x01]))
        #expect(await Self.send([0x84, 0] + bad, 0x00, to: &reader) == Self.failed(2, status))
        #expect(await Self.send([0x95, 3] + Self.readBlock, 0x01, to: &reader).count == 21)
    }

    @Test func `The field goes off and on, and a tag forgets then`() async {
        var reader = await reader()
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await Self.send([0x83, 0], 0x00, to: &reader) == Self.done + Self.finish)
        #expect(await Self.send([0x95, 3] + Self.readBlock, 0x01, to: &reader) == Self.failed(1, [0x64, 0x01]))
        #expect(await Self.send([0x84, 0], 0x00, to: &reader) == Self.done + Self.finish)
        #expect(await Self.send([0x95, 3] + Self.readBlock, 0x01, to: &reader).count == 21)
    }

    @Test func `Of two protocols in a command the first one counts`() async {
        var reader = await reader()
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await Self.send([0x8F, 2, 2, 0, 0x80, 0], 0x02, to: &reader) == Self.done + Self.finish)
        #expect(await Self.send([0x80, 0, 0x8F, 2, 2, 0], 0x02, to: &reader) == Self.failed(1, [0x67, 0x00]))
    }

    @Test func `A reader does not switch to a technology that it has not`() async {
        field.bring(VirtualType5Tag(.icodeSLIX))
        var profile = ReaderProfile.acr1552u
        profile.technologies = [.nfcA]
        field.bring(VirtualType2Tag(.ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]))
        var reader = EmulatedReader(profile, field: field)
        #expect(await reader.look() == .init(hasFound: true))
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        #expect(await Self.send([0x8F, 2, 2, 3], 0x02, to: &reader) == Self.failed(1, [0x64, 0x01]))
        #expect(await Self.send([0x8F, 2, 0, 3], 0x02, to: &reader).starts(with: Self.done + [0x5F, 0x51]))
    }

    /// Sends a frame without a card, by an escape.
    private static func escape(_ objects: [UInt8], _ kind: UInt8, to reader: inout EmulatedReader) async -> [UInt8] {
        let reply = await reader.control(0x4200_0001, [0xFF, 0xC2, 0, kind, UInt8(objects.count)] + objects)
        guard case .done(let bytes) = reply else { return [] }
        return bytes
    }

    @Test func `A session has the technology of the card with which it began, and none without a card`() async {
        var reader = await reader()
        _ = await Self.send([0x81, 0], 0x00, to: &reader)
        field.removeAll()
        #expect(await reader.look() == .init(hasLost: true))
        let frame = [0x95, 3] + Self.readBlock
        #expect(await Self.escape(frame, 0x01, to: &reader) == Self.failed(1, [0x64, 0x01]))
        // What is only sent is done, whether or not anybody hears it.
        #expect(await Self.escape([0x93, 3] + Self.readBlock, 0x01, to: &reader) == Self.done + Self.finish)
        _ = await Self.escape([0x81, 0], 0x00, to: &reader)
        #expect(await Self.escape([0x80, 0], 0x00, to: &reader) == Self.done + [0x80, 3, 1, 0, 0] + Self.finish)
        #expect(await Self.escape([0x91, 1, 0] + frame, 0x01, to: &reader) == Self.failed(2, [0x6A, 0x81]))
    }
}
