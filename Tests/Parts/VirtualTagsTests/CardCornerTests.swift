// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `A card of a script` {
    @Test func `A command has its answers one after the other, the last one again, and all anew with the power`() {
        var card = ScriptedCard([
            (hex("01"), hex("aa 90 00")), (hex("01"), hex("bb 90 00")), (hex("02"), hex("cc 90 00")),
        ])
        func answers(_ commands: [String]) -> [String] {
            commands.map { hexText(card.process(hex($0), tear: nil).bytes) }
        }
        for _ in 0..<2 {
            #expect(
                answers(["01", "02", "01", "01", "02", "03"])
                    == ["aa 90 00", "cc 90 00", "bb 90 00", "bb 90 00", "cc 90 00", "6d 00"]
            )
            card.losePower()
        }
        var other = ScriptedCard([], otherwise: CardAnswer([0x6A, 0x81]))
        #expect(other.process([1], tear: nil).bytes == [0x6A, 0x81])
    }

    @Test func `Its answers take their time`() {
        var card = ScriptedCard()
        card.answer([1], with: [0x90, 0], workTime: .milliseconds(7), waitingTimeExtensions: [3, 4])
        let answer = card.process([1], tear: nil)
        #expect(answer.workTime == .milliseconds(7) && answer.waitingTimeExtensions == [3, 4])
    }

    @Test func `Its tag has a random UID of four bytes, and the other answers of a card`() {
        var generator = Numbers(seed: 5)
        let fronts = (0..<2).map { _ in Type4FrontEnd.randomUID(using: &generator) }
        #expect(fronts[0] != fronts[1])
        for front in fronts + [VirtualType4Tag(card: ScriptedCard()).frontEnd] {
            guard case .nfcA(let uid, let atqa, let sak, let ats) = front else {
                Issue.record("\(front)")
                continue
            }
            #expect(uid.count == 4 && uid[0] == 0x08)
            #expect(atqa == 0x0004 && sak == 0x20 && ats == hex("05 78 80 70 02"))
        }
    }

    @Test func `Statuses are those of ISO 7816-4`() {
        let statuses: [(CardStatus, UInt16)] = [
            (.success, 0x9000), (.endOfFile, 0x6282), (.executionError, 0x6400), (.memoryFailure, 0x6581),
            (.wrongLength, 0x6700), (.securityNotSatisfied, 0x6982), (.conditionsNotSatisfied, 0x6985),
            (.noCurrentFile, 0x6986), (.wrongData, 0x6A80), (.notFound, 0x6A82), (.recordNotFound, 0x6A83),
            (.noRoom, 0x6A84), (.wrongParameters, 0x6A86), (.dataNotFound, 0x6A88), (.wrongOffset, 0x6B00),
            (.unknownInstruction, 0x6D00), (.unknownClass, 0x6E00),
        ]
        for (status, number) in statuses {
            #expect(status.rawValue == number && status.bytes == [UInt8(number >> 8), UInt8(number & 0xFF)])
        }
    }

    @Test func `An update with data objects is as long as the card takes at most`() {
        let application = NDEFApplication(mapping: .version3, size: 64, maximumRead: 15, maximumWrite: 8)
        var card = ApplicationCard([application])
        let answers = [
            "00 a4 04 00 07 d2 76 00 00 85 01 01 00", "00 a4 00 0c 02 e1 04", "00 d7 00 00 08 54 03 00 00 04 53 01 77",
            "00 d7 00 00 09 54 03 00 00 04 53 02 88 99", "00 d7 00 01 08 54 03 00 00 04 53 01 77", "00 b0 00 04 02",
        ].map { hexText(card.process(hex($0), tear: nil).bytes) }
        #expect(answers == ["90 00", "90 00", "90 00", "67 00", answers[4], "77 00 90 00"])
        #expect(answers[4] != "90 00")
    }
}

@Suite struct `A card of several applications` {
    /// An application that writes down what happens to it.
    private struct Diary: CardApplication {
        var names: [[UInt8]]
        var status: [UInt8] = [0x90, 0x00]
        var entries: [String] = []

        mutating func select(_ command: CardCommand) -> CardAnswer {
            entries.append("select")
            return CardAnswer(status)
        }

        mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer {
            entries.append("process")
            return CardAnswer(status: .success)
        }

        mutating func deselect() { entries.append("deselect") }
    }

    private func entries(_ card: ApplicationCard) -> [[String]] {
        card.applications.map { ($0 as? Diary)?.entries ?? [] }
    }

    @Test func `One is selected at a time, and is told when it is not any more`() {
        let longest = [UInt8](repeating: 0x16, count: 16)
        var card = ApplicationCard([
            Diary(names: [[1, 1, 1, 1, 1]]), Diary(names: [[2, 2, 2, 2, 2], longest], status: [0x61, 0x10]),
            Diary(names: [[3, 3, 3, 3, 3]], status: [0x6A, 0x81]),
        ])
        func select(_ name: [UInt8]) -> [UInt8] {
            card.process([0x00, 0xA4, 0x04, 0x00, UInt8(name.count)] + name, tear: nil).bytes
        }
        #expect(select([1, 1, 1, 1, 1]) == [0x90, 0x00])
        #expect(entries(card) == [["deselect", "select"], [], []])
        #expect(select(longest) == [0x61, 0x10])
        #expect(entries(card) == [["deselect", "select", "deselect"], ["deselect", "select"], []])
        // One that refuses leaves the other selected, and stays as it was.
        #expect(select([3, 3, 3, 3, 3]) == [0x6A, 0x81])
        #expect(card.process([0x00, 0xB0, 0x00, 0x00], tear: nil).bytes == [0x90, 0x00])
        #expect(entries(card)[1...] == [["deselect", "select", "process"], []])
        #expect(select([2, 2, 2, 2, 2]) == [0x61, 0x10])
        #expect(entries(card)[1] == ["deselect", "select", "process", "deselect", "select"])
        card.losePower()
        #expect(entries(card)[1].suffix(2) == ["select", "deselect"] && card.selectedApplication == nil)
    }

    @Test func `An application that is deselected or selected anew has no current file and no container`() throws {
        var application = NDEFApplication(mapping: .version3, size: 64)
        let select = try #require(CardCommand(hex("00 a4 04 00")))
        let file = try #require(CardCommand(hex("00 a4 00 0c 02 e1 04")))
        let read = try #require(CardCommand(hex("00 b0 00 00 01")))
        let object = try #require(CardCommand(hex("00 b1 00 00 05 54 03 00 00 00 03")))
        for isDeselected in [true, false] {
            _ = application.select(select)
            #expect(application.process(file, tear: nil).bytes == [0x90, 0x00])
            #expect(application.process(object, tear: nil).bytes == hex("53 01 00 90 00"))
            if isDeselected { application.deselect() } else { _ = application.select(select) }
            #expect(application.process(read, tear: nil).bytes == [0x69, 0x86])
            #expect(application.process(object, tear: nil).bytes == (isDeselected ? [0x6D, 0x00] : [0x69, 0x86]))
        }
    }

    @Test func `A container of seven bytes has its limits, and one of six has none`() {
        for (container, status) in [("00 07 20 00 01 00 01", "67 00"), ("00 07 20 00 01 00", "00 07 90 00")] {
            var card = ApplicationCard([NDEFApplication(files: [0xE103: hex(container)])])
            let answers = [
                "00 a4 04 00 07 d2 76 00 00 85 01 01 00", "00 a4 00 0c 02 e1 03", "00 b0 00 00 02",
            ].map { hexText(card.process(hex($0), tear: nil).bytes) }
            #expect(answers == ["90 00", "90 00", status])
        }
    }
}

@Suite struct `A block of FeliCa Lite-S that loses the power` {
    @Test func `It is the old one or the new one, and the counter counts the new one alone`() async throws {
        let idm = hex("02 fe 00 11 22 33 44 55")
        var outcomes: Set<[UInt8]> = []
        for tear in [TornWrite.old, .new] + (0..<8).map({ .mixed(seed: $0) }) {
            let tag = VirtualType3Tag(FeliCaLiteSContents(idm: idm))
            let script = try LinkScript(.nfcF, tag)
            script.field.arm(.tear(duringWrite: 1, leaving: tear))
            let data = [UInt8](repeating: 0x55, count: 16)
            let command = [0x08] + idm + [1, 0x09, 0x00, 1, 0x80, 0x05] + data
            #expect(await script.send(hexText([UInt8(command.count + 1)] + command)) == "timeout")
            guard case .liteS(let contents) = tag.contents else { return #expect(Bool(false)) }
            let block = Array(contents.userMemory[80..<96])
            #expect(block == data || block == [UInt8](repeating: 0, count: 16))
            if tear == .old { #expect(block != data) }
            if tear == .new { #expect(block == data) }
            #expect(contents.writeCounter == (block == data ? 1 : 0))
            outcomes.insert(block)
        }
        #expect(outcomes.count == 2)
    }
}

@Suite struct `What is printed of a tag` {
    @Test(arguments: ClassicProduct.allCases) func `The keys of all sectors are zeros, and nothing else is`(
        product: ClassicProduct
    ) {
        let memory = (0..<product.memorySize).map { UInt8($0 % 251 | 1) }
        let contents = ClassicContents(product, memory: memory, uid: [1, 2, 3, 4])
        #expect(contents.description == "\(product), UID 01020304, \(product.memorySize) bytes")
        let printed = Mirror(reflecting: contents).children.first { $0.label == "memory" }?.value
        guard let shown = printed as? [UInt8] else { return #expect(Bool(false)) }
        let places = contents.keyPlaces
        #expect(places.count == 2 * product.sectorCount && places.allSatisfy { $0.count == 6 })
        for sector in 0..<product.sectorCount {
            let trailer = ClassicProduct.trailer(ofSector: sector) * 16
            #expect(places[2 * sector] == trailer..<trailer + 6)
            #expect(places[2 * sector + 1] == trailer + 10..<trailer + 16)
        }
        for index in memory.indices {
            let isKey = places.contains { $0.contains(index) }
            #expect(shown[index] == (isKey ? 0 : memory[index]))
        }
    }
}
