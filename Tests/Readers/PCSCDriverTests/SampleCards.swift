// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PCSCDriver  // the connection to a card is internal

/// Readers' answers for cards of a test's own.
enum SampleCards {
    static let name = "ACS ACR122U PICC Interface 00 00"
    static let uid: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]
    static let type2Answer = [UInt8](hex: "3B8F8001804F0CA0000003060300030000000068")
    static let type1Answer = [UInt8](hex: "3B8F8001804F0CA000000306 03F004 00000000 00")
    static let felicaAnswer = [UInt8](hex: "3B8F8001804F0CA00000030611003B0000000042")
    static let vicinityAnswer = [UInt8](hex: "3B8F8001804F0CA0000003060B00140000000077")
    /// A card with ISO-DEP and no historical bytes.
    static let cardAnswer = [UInt8](hex: "3B80800101")
    static let contactAnswer = [UInt8](hex: "3BDA18FF81B1FE751F030031F573C001600090001C")

    static let everyTechnology = Set(Technology.allCases)
    /// A time limit in milliseconds that no test meets.
    static let longTime = 600_000

    /// A reader with a card, described by its answers.
    static func service(
        _ answer: [UInt8],
        name: String = name,
        _ respond: @escaping @Sendable ([UInt8]) throws(SmartCardError) -> [UInt8]
    ) -> ScriptedService {
        let card = ScriptedService.Card(answerToReset: answer, respond: respond)
        return ScriptedService([ScriptedService.Reader(name: name, card: card)])
    }

    /// A card as a table of commands and answers in hexadecimal; 6A81 to all others.
    static func service(_ answer: [UInt8], table: [String: String]) -> ScriptedService {
        service(answer) { command in [UInt8](hex: table[command.hex] ?? "6a81") }
    }

    /// A card with ISO-DEP and a UID, and its answer to other commands.
    static func card(
        _ respond: @escaping @Sendable ([UInt8]) throws(SmartCardError) -> [UInt8] = { _ in [0x90, 0x00] }
    ) -> ScriptedService {
        service(cardAnswer) { command throws(SmartCardError) in
            command[0] == 0xFF ? uid + [0x90, 0x00] : try respond(command)
        }
    }

    /// A reader with a PN53x and a Type 2 tag, which answers frames by a table.
    static func chip(_ frames: [String: String] = [:]) -> ScriptedService {
        let table = [
            "ffca000000": uid.hex + "9000", "ff00000002d402": "d50332010607 9000",
            "ff00000005d408630300": "d509 9000", "ff00000005d408630380": "d509 9000",
        ]
        return service(type2Answer, table: table.merging(frames) { $1 })
    }

    static func connection(_ layer: ScriptedService, limits: CallTimeouts = .usual) -> CardConnection {
        CardConnection(service: ServiceConnection(layer: layer, limits: limits), reader: name)
    }

    /// Polls for every technology.
    static func tag(_ reader: PCSCReader, systemCodes: [UInt16] = []) async throws -> DiscoveredTag {
        try #require(try await reader.discover(everyTechnology, systemCodes: systemCodes).first)
    }

    static func commands(_ reader: PCSCReader) async throws -> any APDULink {
        guard case .commands(let link, _) = try await tag(reader).port else { throw LinkError(.unsupported, "frames") }
        return link
    }

    static func frames(_ reader: PCSCReader, systemCodes: [UInt16] = []) async throws -> any SelfActivatingLink {
        guard case .frames(let link) = try await tag(reader, systemCodes: systemCodes).port else {
            throw LinkError(.unsupported, "commands")
        }
        return link
    }

    /// How many tags a poll finds, or the error's code.
    static func poll(_ reader: PCSCReader) async -> (count: Int?, code: LinkError.Code?) {
        do throws(LinkError) {
            return (try await reader.discover(everyTechnology, systemCodes: []).count, nil)
        } catch { return (nil, error.code) }
    }
}

extension [UInt8] {
    /// Bytes from hexadecimal text; spaces do not count.
    init(hex text: String) {
        let digits = text.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
