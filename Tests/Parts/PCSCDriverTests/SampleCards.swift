// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import TagProtocols
import VirtualTags

/// Readers' answers for cards of a test's own.
enum SampleCards {
    static let name = "ACS ACR122U PICC Interface 00 00"
    static let uid: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]
    static let type2Answer = [UInt8](hex: "3B8F8001804F0CA0000003060300030000000068")
    static let felicaAnswer = [UInt8](hex: "3B8F8001804F0CA000000306110 03B0000000042".replacing(" ", with: ""))
    static let vicinityAnswer = [UInt8](hex: "3B8F8001804F0CA0000003060B00140000000077")
    static let cardAnswer = [UInt8](hex: "3B80800101")

    /// A reader with a card, described by its answers.
    static func service(
        _ answer: [UInt8],
        name: String = name,
        _ respond: @escaping @Sendable ([UInt8]) throws(SmartCardError) -> [UInt8]
    ) -> ScriptedService {
        ScriptedService([
            ScriptedService.Reader(
                name: name,
                card: ScriptedService.Card(answerToReset: answer, respond: respond)
            )
        ])
    }

    /// A card as a table of commands and answers in hexadecimal; 6A81 to all others.
    static func service(_ answer: [UInt8], table: [String: String]) -> ScriptedService {
        service(answer) { command in [UInt8](hex: table[command.hex] ?? "6a81") }
    }

    /// An NTAG213 in a reader that has nothing but commands for storage cards.
    static func storageReader() -> (service: ScriptedService, memory: Locked<[UInt8]>) {
        var bytes = [UInt8](repeating: 0, count: 180)
        bytes.replaceSubrange(0..<10, with: [0x04, 0xA1, 0xB2, 0x9F, 0xC3, 0xD4, 0xE5, 0x80, 0x72, 0x48])
        bytes.replaceSubrange(12..<16, with: [0xE1, 0x10, 0x12, 0x00])
        bytes.replaceSubrange(16..<19, with: [0x03, 0x00, 0xFE])
        let memory = Locked(bytes)
        let service = service(type2Answer) { command in
            switch (command[0], command[1]) {
            case (0xFF, 0xCA): return uid + [0x90, 0x00]
            case (0xFF, 0xB0):
                let start = Int(command[3]) * 4
                return memory.withLock { bytes in
                    guard start < bytes.count else { return [0x63, 0x00] }
                    return (0..<Int(command[4])).map { bytes[(start + $0) % bytes.count] } + [0x90, 0x00]
                }
            case (0xFF, 0xD6):
                let start = Int(command[3]) * 4
                memory.withLock { $0.replaceSubrange(start..<start + 4, with: command[5..<9]) }
                return [0x90, 0x00]
            default: return [0x6A, 0x81]
            }
        }
        return (service, memory)
    }
}
