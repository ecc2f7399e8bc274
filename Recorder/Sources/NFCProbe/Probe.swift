// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation
import NFCRecorder

/// Questions about a phone's behaviour that no documentation answers.
///
/// The answers of OpenCoreNFC are in `Answers/opencorenfc.jsonl`, one line a question. `Answers/compare` prints the lines
/// that differ.
public struct Probe: Sendable {
    /// A tag to hold near the phone.
    public enum Tag: String, CaseIterable, Sendable {
        case ntag215 = "NTAG215"
        case type4 = "Type 4"
        case feliCaLiteS = "FeliCa Lite-S"
        case icodeSLIX = "ICODE SLIX"

        /// The options of a session that finds the tag.
        public var options: NFCTagReaderSession.PollingOption {
            switch self {
            case .ntag215, .type4: .iso14443
            case .feliCaLiteS: .iso18092
            case .icodeSLIX: .iso15693
            }
        }
    }

    /// The name, such as `read-after-refusal`.
    public let name: String
    /// The tag. It has the factory's password and keys, and no question changes it.
    public let tag: Tag
    /// Whether the question is about a tag that the session is connected to.
    let connects: Bool
    let ask: @Sendable (NFCTag) async throws -> String

    private init(
        _ name: String,
        _ tag: Tag,
        connects: Bool = true,
        _ ask: @escaping @Sendable (NFCTag) async throws -> String
    ) {
        (self.name, self.tag, self.connects, self.ask) = (name, tag, connects, ask)
    }

    /// Asks all questions about a kind of tag. The tag has to stay near until the sheet disappears.
    ///
    /// - Returns: a line of JSON for each question.
    /// - Throws: an error of Core NFC if the session ends.
    @MainActor public static func answers(of tag: Tag) async throws -> [String] {
        let scan = try TagScan(tag.options, message: "Hold an \(tag.rawValue) near the phone until this disappears.")
        do {
            var lines: [String] = []
            for probe in all where probe.tag == tag {
                let found = try await scan.next(connects: probe.connects)
                lines.append(probe.line(await probe.answer(found)))
            }
            scan.end()
            return lines
        } catch {
            scan.end(error)
            throw error
        }
    }

    private func answer(_ tag: NFCTag) async -> String { await outcome { try await ask(tag) } }

    private func line(_ answer: String) -> String {
        let object = ["answer": answer, "question": name, "tag": tag.rawValue]
        let json = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: json ?? Data(), as: UTF8.self)
    }
}

/// The result of a command: hexadecimal digits, or the number of the error.
private func outcome(_ work: () async throws -> String) async -> String {
    do {
        return try await work()
    } catch {
        let error = error as NSError
        return "\(error.domain) \(error.code)"
    }
}

private func hex(_ bytes: some Sequence<UInt8>) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

private struct OtherTag: Error {}

// MARK: The questions

extension Probe {
    private static func type2(
        _ name: String,
        connects: Bool = true,
        _ ask: @escaping @Sendable (any NFCMiFareTag) async throws -> String
    ) -> Probe {
        Probe(name, .ntag215, connects: connects) { tag in
            guard case .miFare(let tag) = tag else { throw OtherTag() }
            return try await ask(tag)
        }
    }

    private static func card(
        _ name: String,
        connects: Bool = true,
        _ ask: @escaping @Sendable (any NFCISO7816Tag) async throws -> String
    ) -> Probe {
        Probe(name, .type4, connects: connects) { tag in
            guard case .iso7816(let tag) = tag else { throw OtherTag() }
            return try await ask(tag)
        }
    }

    private static func feliCa(
        _ name: String,
        _ ask: @escaping @Sendable (any NFCFeliCaTag) async throws -> String
    ) -> Probe {
        Probe(name, .feliCaLiteS) { tag in
            guard case .feliCa(let tag) = tag else { throw OtherTag() }
            return try await ask(tag)
        }
    }

    private static func type5(
        _ name: String,
        _ ask: @escaping @Sendable (any NFCISO15693Tag) async throws -> String
    ) -> Probe {
        Probe(name, .icodeSLIX) { tag in
            guard case .iso15693(let tag) = tag else { throw OtherTag() }
            return try await ask(tag)
        }
    }

    private static func select(_ name: [UInt8], expecting length: Int) -> NFCISO7816APDU {
        NFCISO7816APDU(
            instructionClass: 0,
            instructionCode: 0xA4,
            p1Parameter: 4,
            p2Parameter: 0,
            data: Data(name),
            expectedResponseLength: length
        )
    }

    private static let ndefApplication: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]

    /// The questions, in order.
    public static let all: [Probe] = [
        type2("available-before-connect", connects: false) { String($0.isAvailable) },
        type2("command-before-connect", connects: false) { tag in
            String(try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0])).count)
        },
        // An unknown command, which the tag refuses with a NAK.
        type2("refusal") { hex(try await $0.sendMiFareCommand(commandPacket: Data([0xFF]))) },
        type2("available-after-refusal") { tag in
            _ = try? await tag.sendMiFareCommand(commandPacket: Data([0xFF]))
            return String(tag.isAvailable)
        },
        type2("read-after-refusal") { tag in
            _ = try? await tag.sendMiFareCommand(commandPacket: Data([0xFF]))
            return String(try await tag.sendMiFareCommand(commandPacket: Data([0x30, 0])).count)
        },
        // A write of the page with the UID, which the tag refuses. An acknowledgement has four bits.
        type2("write-refusal") { hex(try await $0.sendMiFareCommand(commandPacket: Data([0xA2, 0, 0, 0, 0, 0]))) },
        type2("fast-read-268-bytes") {
            String(try await $0.sendMiFareCommand(commandPacket: Data([0x3A, 0, 66])).count)
        },
        type2("fast-read-272-bytes") {
            String(try await $0.sendMiFareCommand(commandPacket: Data([0x3A, 0, 67])).count)
        },
        type2("command-of-254-bytes") { hex(try await $0.sendMiFareCommand(commandPacket: Data(count: 254))) },
        type2("iso7816-to-type-2") { tag in
            String(try await tag.sendMiFareISO7816Command(select(ndefApplication, expecting: 256)).1)
        },
        type2("text-byte-order") { _ in
            let text = NFCNDEFPayload.wellKnownTypeTextPayload(string: "é", locale: Locale(identifier: "en"))
            return hex(text?.payload ?? Data())
        },
        card("available-before-connect", connects: false) { String($0.isAvailable) },
        card("command-before-connect", connects: false) { tag in
            hex([try await tag.sendCommand(apdu: select(ndefApplication, expecting: 256)).1])
        },
        card("expected-length-0") { tag in
            hex([try await tag.sendCommand(apdu: select(ndefApplication, expecting: 0)).1])
        },
        card("select-without-name") { tag in
            let (_, high, low): (Data, UInt8, UInt8) = try await tag.sendCommand(apdu: select([], expecting: 256))
            return hex([high, low])
        },
        card("payload-without-data") { tag in
            let answer: NFCISO7816ResponseAPDU = try await tag.sendCommand(apdu: select(ndefApplication, expecting: -1))
            return answer.payload.map { "\($0.count) bytes" } ?? "nil"
        },
        feliCa("answer-begins-with-length") { tag in
            // READ WITHOUT ENCRYPTION of block 0.
            let command = Data([6]) + tag.currentIDm + Data([1, 0x0B, 0, 1, 0x80, 0])
            let answer = try await tag.sendFeliCaCommand(commandPacket: command)
            return String(answer.first.map { Int($0) } == answer.count)
        },
        feliCa("other-idm") { tag in
            let command = Data([6]) + Data(tag.currentIDm.reversed()) + Data([1, 0x0B, 0, 1, 0x80, 0])
            return hex(try await tag.sendFeliCaCommand(commandPacket: command).prefix(2))
        },
        feliCa("polling-of-absent-system") { tag in
            let (pmm, _) = try await tag.polling(
                systemCode: Data([0x86, 0xA7]),
                requestCode: .noRequest,
                timeSlot: .max1
            )
            return String(pmm.count)
        },
        feliCa("read-after-absent-system") { tag in
            _ = try? await tag.polling(systemCode: Data([0x86, 0xA7]), requestCode: .noRequest, timeSlot: .max1)
            let blocks = [Data([0x80, 0])]
            let answer = try await tag.readWithoutEncryption(serviceCodeList: [Data([0x0B, 0])], blockList: blocks)
            return hex([UInt8(answer.0 & 0xFF), UInt8(answer.1 & 0xFF)])
        },
        // GET RANDOM NUMBER (B2).
        type5("custom-command") { tag in
            let flags: NFCISO15693RequestFlag = [.highDataRate]
            let answer = try await tag.customCommand(
                requestFlags: flags,
                customCommandCode: 0xB2,
                customRequestParameters: Data()
            )
            return "\(answer.count) bytes"
        },
        type5("custom-command-with-address-flag") { tag in
            let flags: NFCISO15693RequestFlag = [.highDataRate, .address]
            let answer = try await tag.customCommand(
                requestFlags: flags,
                customCommandCode: 0xB2,
                customRequestParameters: Data()
            )
            return "\(answer.count) bytes"
        },
        // Not a custom command. nfclint:disable:next SRC034
        type5("custom-command-20") { tag in
            let flags: NFCISO15693RequestFlag = [.highDataRate]
            let answer = try await tag.customCommand(
                requestFlags: flags,
                customCommandCode: 0x20,
                customRequestParameters: Data([0])
            )
            return "\(answer.count) bytes"
        },
        type5("block-out-of-range") { tag in
            hex(try await tag.readSingleBlock(requestFlags: [.highDataRate], blockNumber: 0xFF))
        },
        type5("read-after-block-out-of-range") { tag in
            _ = try? await tag.readSingleBlock(requestFlags: [.highDataRate], blockNumber: 0xFF)
            return "\(try await tag.readSingleBlock(requestFlags: [.highDataRate], blockNumber: 0).count) bytes"
        },
        type5("identifier-begins-with-e0") { String($0.identifier.first == 0xE0) },
    ]
}
