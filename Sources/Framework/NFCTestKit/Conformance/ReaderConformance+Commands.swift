// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
import VirtualTags

extension ReaderConformance {
    static let commandScenarios: [Scenario] =
        ConformanceTag.all.filter { ["Type 4A", "Type 4B"].contains($0.name) }.flatMap { tag in
            [
                Scenario("\(tag.name): accepts APDUs and returns status words", needs: tag.needs) {
                    try await apdus(tag, $0)
                },
                Scenario("\(tag.name): exchanges APDUs of many blocks", needs: tag.needs + [.extendedAPDUs]) {
                    try await longAPDUs(tag, $0)
                },
            ]
        } + [
            Scenario("Type 2: accepts commands, and refuses one", needs: [.technology(.nfcA), .packets(.nfcA)], type2),
            Scenario("Type 3: accepts FeliCa commands", needs: [.technology(.nfcF), .packets(.nfcF)], feliCa),
            Scenario("Type 5: accepts ISO 15693 commands", needs: [.technology(.nfcV), .packets(.nfcV)], iso15693),
        ]

    private static func card(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws -> ConnectableTag {
        guard case .type4(let contents) = try tag.contents() else {
            throw ConformanceFailure(description: "This card does not exist.")
        }
        let application = NDEFApplication(mapping: .version3, size: 2048, maximumRead: 0x400, maximumWrite: 0x400)
        stage.setup.field.bring(VirtualType4Tag(card: ApplicationCard([application]), frontEnd: contents.frontEnd))
        let card = try await stage.connectOne(PollingPlan(technologies: [.nfcA, .nfcB], opensCards: true))
        let name: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
        try await stage.send("SELECT", [0x00, 0xA4, 0x04, 0x00, 0x07] + name + [0x00], to: card) {
            $0.suffix(2) == [0x90, 0x00]
        }
        return card
    }

    private static func apdus(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws {
        let card = try await card(tag, stage)
        func send(_ name: String, _ apdu: [UInt8], expecting answer: [UInt8]) async throws {
            try await stage.send(name, apdu, to: card, expecting: answer)
        }
        try await send("A missing file", [0x00, 0xA4, 0x00, 0x0C, 0x02, 0x12, 0x34], expecting: [0x6A, 0x82])
        try await send("An unknown instruction", [0x00, 0x5F, 0x00, 0x00], expecting: [0x6D, 0x00])
        _ = try await stage.send([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x04], to: card)
        let data = (0..<200).map { UInt8($0) }
        try await send("UPDATE BINARY", [0x00, 0xD6, 0x00, 0x10, 200] + data, expecting: [0x90, 0x00])
        try await send("READ BINARY", [0x00, 0xB0, 0x00, 0x10, 200], expecting: data + [0x90, 0x00])
    }

    private static func longAPDUs(_ tag: ConformanceTag, _ stage: ConformanceStage) async throws {
        let card = try await card(tag, stage)
        _ = try await stage.send([0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x04], to: card)
        let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        let update: [UInt8] = [0x00, 0xD6, 0x00, 0x04, 0x00, 0x02, 0x58] + data
        try await stage.send("UPDATE BINARY", update, to: card, expecting: [0x90, 0x00])
        let read: [UInt8] = [0x00, 0xB0, 0x00, 0x04, 0x00, 0x02, 0x58]
        try await stage.send("READ BINARY", read, to: card, expecting: data + [0x90, 0x00])
    }

    private static func bring(_ type: Int, to stage: ConformanceStage, _ plan: PollingPlan = .ndef) async throws -> (
        tag: ConnectableTag, uid: [UInt8]
    ) {
        guard let tag = ConformanceTag.all.first(where: { $0.type == type }) else {
            throw ConformanceFailure(description: "This tag does not exist.")
        }
        stage.setup.field.bring(try tag.make())
        return (try await stage.connectOne(plan), tag.uid)
    }

    private static func type2(_ stage: ConformanceStage) async throws {
        let tag = try await bring(2, to: stage).tag
        try await stage.send("GET VERSION", [0x60], to: tag, expecting: [0, 4, 4, 2, 1, 0, 0x0F, 3])
        try await stage.send("WRITE", [0xA2, 0x06, 1, 2, 3, 4], to: tag, expecting: [0x0A])
        try await stage.send("READ of a missing page", [0x30, 0xF0], to: tag, expecting: [0x00])
        // The refusal put the tag to sleep. The session wakes the tag after the missing answer to this command.
        _ = try? await stage.send([0x30, 0x06], to: tag)
        try await stage.send("READ", [0x30, 0x06], to: tag) { $0.starts(with: [1, 2, 3, 4]) }
    }

    private static func feliCa(_ stage: ConformanceStage) async throws {
        let plan = PollingPlan(technologies: [.nfcF], systemCodes: [0x12FC])
        let (tag, idm) = try await bring(3, to: stage, plan)
        let block: [UInt8] = [1, 0x09, 0x00, 1, 0x80, 0x05]
        let data = (0..<16).map { UInt8($0) }
        let write = [0x08] + idm + block + data
        try await stage.send("WRITE WITHOUT ENCRYPTION", write, to: tag, expecting: [0x09] + idm + [0, 0])
        let read = [0x06] + idm + block
        try await stage.send("READ WITHOUT ENCRYPTION", read, to: tag, expecting: [0x07] + idm + [0, 0, 1] + data)
        try await stage.send("A missing block", [0x06] + idm + [1, 0x09, 0x00, 1, 0x80, 0x60], to: tag) {
            $0.count == 11 && $0[9] != 0
        }
    }

    private static func iso15693(_ stage: ConformanceStage) async throws {
        let (tag, uid) = try await bring(5, to: stage)
        let address = Array(uid.reversed())
        func send(_ name: String, _ code: UInt8, _ rest: [UInt8], isExpected: ([UInt8]) -> Bool) async throws {
            try await stage.send(name, [0x22, code] + address + rest, to: tag, expecting: isExpected)
        }
        try await send("WRITE SINGLE BLOCK", 0x21, [0x05, 1, 2, 3, 4]) { $0 == [0x00] }
        try await send("READ SINGLE BLOCK", 0x20, [0x05]) { $0 == [0x00, 1, 2, 3, 4] }
        try await send("READ MULTIPLE BLOCKS", 0x23, [0x04, 0x02]) { $0.count == 13 && $0[5..<9] == [1, 2, 3, 4] }
        try await send("GET SYSTEM INFORMATION", 0x2B, []) { $0.starts(with: [0x00, 0x0F]) }
        try await send("A missing block", 0x20, [0xF0]) { $0.first == 0x01 }
    }
}
