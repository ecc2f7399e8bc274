// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
import VirtualTags

extension ReaderConformance {
    private static let idm: [UInt8] = [2, 0xFE, 1, 2, 3, 4, 5, 6]
    private static let cards = PollingPlan(technologies: [.nfcA, .nfcB], opensCards: true)

    /// The scenarios with commands that apps build themselves.
    static let commandScenarios: [Scenario] =
        ["Type 4A", "Type 4B"].flatMap { name in
            let tag = ConformanceTag.all.first { $0.name == name }
            return [
                Scenario("\(name): takes APDUs and gives status words", needs: tag?.needs ?? []) {
                    try await apdus(tag, $0)
                },
                Scenario("\(name): takes and gives APDUs of many blocks", needs: (tag?.needs ?? []) + [.extendedAPDUs])
                {
                    try await longAPDUs(tag, $0)
                },
            ]
        } + [
            Scenario("Type 2: takes commands, and says no", needs: [.technology(.nfcA), .packets(.nfcA)], type2),
            Scenario("Type 3: takes FeliCa commands", needs: [.technology(.nfcF), .packets(.nfcF)], feliCa),
            Scenario("Type 5: takes ISO 15693 commands", needs: [.technology(.nfcV), .packets(.nfcV)], iso15693),
        ]

    private static func card(_ tag: ConformanceTag?, _ stage: ConformanceStage) async throws -> ConnectableTag {
        guard let tag, case .type4(let contents) = try tag.contents() else {
            throw ConformanceFailure(description: "There is no such card.")
        }
        let application = NDEFApplication(mapping: .version3, size: 2048, maximumRead: 0x400, maximumWrite: 0x400)
        stage.setup.field.bring(VirtualType4Tag(card: ApplicationCard([application]), frontEnd: contents.frontEnd))
        let card = try await stage.scanOne(cards)
        try await stage.connect(to: card)
        let name: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
        let answer = try await stage.send([0x00, 0xA4, 0x04, 0x00, 0x07] + name + [0x00], to: card)
        try stage.expect(answer.suffix(2) == [0x90, 0x00], "SELECT was answered with \(answer).")
        return card
    }

    private static func apdus(_ tag: ConformanceTag?, _ stage: ConformanceStage) async throws {
        let card = try await card(tag, stage)
        let missing = try await stage.send([0x00, 0xA4, 0x00, 0x0C, 0x02, 0x12, 0x34], to: card)
        try stage.expect(missing == [0x6A, 0x82], "A file that is not there was answered with \(missing).")
        let unknown = try await stage.send([0x00, 0x5F, 0x00, 0x00], to: card)
        try stage.expect(unknown == [0x6D, 0x00], "An unknown instruction was answered with \(unknown).")
        _ = try await stage.send([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x04], to: card)
        let data = (0..<200).map { UInt8($0) }
        let written = try await stage.send([0x00, 0xD6, 0x00, 0x10, 200] + data, to: card)
        try stage.expect(written == [0x90, 0x00], "UPDATE BINARY was answered with \(written).")
        let read = try await stage.send([0x00, 0xB0, 0x00, 0x10, 200], to: card)
        try stage.expect(read == data + [0x90, 0x00], "READ BINARY gave \(read.count) bytes.")
    }

    private static func longAPDUs(_ tag: ConformanceTag?, _ stage: ConformanceStage) async throws {
        let card = try await card(tag, stage)
        _ = try await stage.send([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x04], to: card)
        let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        let written = try await stage.send([0x00, 0xD6, 0x00, 0x04, 0x00, 0x02, 0x58] + data, to: card)
        try stage.expect(written == [0x90, 0x00], "UPDATE BINARY was answered with \(written).")
        let read = try await stage.send([0x00, 0xB0, 0x00, 0x04, 0x00, 0x02, 0x58], to: card)
        try stage.expect(read == data + [0x90, 0x00], "READ BINARY gave \(read.count) bytes.")
    }

    private static func type2(_ stage: ConformanceStage) async throws {
        guard let tag = ConformanceTag.all.first(where: { $0.type == 2 }) else { return }
        stage.setup.field.bring(try tag.make())
        let found = try await stage.scanOne()
        try await stage.connect(to: found)
        let version = try await stage.send([0x60], to: found)
        try stage.expect(version == [0, 4, 4, 2, 1, 0, 0x0F, 3], "GET VERSION gave \(version).")
        let acknowledgement = try await stage.send([0xA2, 0x06, 1, 2, 3, 4], to: found)
        try stage.expect(acknowledgement == [0x0A], "WRITE was answered with \(acknowledgement).")
        let refusal = try await stage.send([0x30, 0xF0], to: found)
        try stage.expect(refusal == [0x00], "READ of no page was answered with \(refusal).")
        // The refusal put the tag to sleep. It is woken when it does not answer.
        _ = try? await stage.send([0x30, 0x06], to: found)
        let page = try await stage.send([0x30, 0x06], to: found)
        try stage.expect(page.prefix(4) == [1, 2, 3, 4], "READ gave \(page.prefix(4)).")
    }

    private static func feliCa(_ stage: ConformanceStage) async throws {
        guard let tag = ConformanceTag.all.first(where: { $0.type == 3 }) else { return }
        stage.setup.field.bring(try tag.make())
        let plan = PollingPlan(technologies: [.nfcF], systemCodes: [0x12FC])
        let found = try await stage.scanOne(plan)
        try await stage.connect(to: found)
        let block: [UInt8] = [1, 0x09, 0x00, 1, 0x80, 0x05]
        let data = (0..<16).map { UInt8($0) }
        let written = try await stage.send([0x08] + idm + block + data, to: found)
        try stage.expect(written == [0x09] + idm + [0, 0], "WRITE WITHOUT ENCRYPTION was answered with \(written).")
        let read = try await stage.send([0x06] + idm + block, to: found)
        try stage.expect(read == [0x07] + idm + [0, 0, 1] + data, "READ WITHOUT ENCRYPTION was answered with \(read).")
        let missing = try await stage.send([0x06] + idm + [1, 0x09, 0x00, 1, 0x80, 0x60], to: found)
        try stage.expect(
            missing.count == 11 && missing[9] != 0,
            "A block that is not there was answered with \(missing)."
        )
    }

    private static func iso15693(_ stage: ConformanceStage) async throws {
        guard let tag = ConformanceTag.all.first(where: { $0.type == 5 }) else { return }
        stage.setup.field.bring(try tag.make())
        let found = try await stage.scanOne()
        try await stage.connect(to: found)
        let address = Array(tag.uid.reversed())
        let written = try await stage.send([0x22, 0x21] + address + [0x05, 1, 2, 3, 4], to: found)
        try stage.expect(written == [0x00], "WRITE SINGLE BLOCK was answered with \(written).")
        let read = try await stage.send([0x22, 0x20] + address + [0x05], to: found)
        try stage.expect(read == [0x00, 1, 2, 3, 4], "READ SINGLE BLOCK was answered with \(read).")
        let many = try await stage.send([0x22, 0x23] + address + [0x04, 0x02], to: found)
        try stage.expect(many.count == 13, "READ MULTIPLE BLOCKS gave \(many.count) bytes.")
        try stage.expect(many[5..<9] == [1, 2, 3, 4], "READ MULTIPLE BLOCKS gave \(many).")
        let system = try await stage.send([0x22, 0x2B] + address, to: found)
        try stage.expect(system.prefix(2) == [0x00, 0x0F], "GET SYSTEM INFORMATION was answered with \(system).")
        let missing = try await stage.send([0x22, 0x20] + address + [0xF0], to: found)
        try stage.expect(missing.first == 0x01, "A block that is not there was answered with \(missing).")
    }
}
