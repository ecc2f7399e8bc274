// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let impossibleCommand = Rule(
        id: "SRC034",
        severity: .warning,
        title: "A tag command can't work as it is written",
        why: """
            Core NFC sends custom commands of ISO 15693 only from A0 to DF, appends the checksum of MIFARE commands \
            itself, and does not support MIFARE Classic, whose commands 60 and 61 with a key authenticate a sector.
            """,
        fix: "Use a code from A0 to DF, leave out the checksum, or use another tag.",
        bad: [
            .swift(
                """
                func scan(_ tag: any NFCISO15693Tag) {
                    tag.customCommand(requestFlags: .highDataRate, customCommandCode: 0x23, customRequestParameters: Data([1])) { _, _ in }
                }
                """
            ),
            .swift(
                "func read(_ tag: any NFCMiFareTag) { tag.sendMiFareCommand(commandPacket: Data([0x30, 0x04, 0x26, 0xEE])) { _, _ in } }"
            ),
            .swift(
                """
                func authenticate(_ tag: any NFCMiFareTag) {
                    let command: [UInt8] = [0x60, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
                    tag.sendMiFareCommand(commandPacket: Data(command)) { _, _ in }
                }
                """
            ),
        ],
        good: [
            .swift(
                """
                func scan(_ tag: any NFCISO15693Tag, _ other: any NFCMiFareTag) {
                    tag.customCommand(requestFlags: .highDataRate, customCommandCode: 0xA1, customRequestParameters: Data([1])) { _, _ in }
                    other.sendMiFareCommand(commandPacket: Data([0x60])) { _, _ in }
                    other.sendMiFareCommand(commandPacket: Data([0xA2, 0x04, 0x01, 0x02, 0x03, 0x04])) { _, _ in }
                }
                """
            )
        ],
        check: { unit, findings in
            for (number, call) in unit.ownCalls(["customCommand", "sendMiFareCommand"]) {
                let place = unit.place(call.node, number)
                if let code = call.argument("customCommandCode").flatMap(Constants.number),
                    !(0xA0...0xDF).contains(code)
                {
                    findings.add(
                        place,
                        "The custom command code is \(code), but only 160 to 223 (A0 to DF) are allowed."
                    )
                }
                guard let packet = call.argument("commandPacket") else { continue }
                for (bytes, place, _) in Constants(unit).values(packet, number, place) {
                    if bytes.count > 3,
                        [checksum(bytes.dropLast(2)), checksum(bytes.dropLast(2)).reversed()]
                            .contains(Array(bytes.suffix(2)))
                    {
                        findings.add(place, "The command ends with its checksum, which Core NFC appends itself.")
                    } else if [0x60, 0x61].contains(bytes.first), [8, 12].contains(bytes.count) {
                        findings.add(
                            place,
                            "The command authenticates a sector of MIFARE Classic, which phones can't read."
                        )
                    }
                }
            }
        }
    )

    /// CRC_A of ISO/IEC 14443-3, as it is sent.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var crc: UInt16 = 0x6363
        for byte in bytes {
            var low = byte ^ UInt8(truncatingIfNeeded: crc)
            low ^= low << 4
            crc = crc >> 8 ^ UInt16(low) << 8 ^ UInt16(low) << 3 ^ UInt16(low) >> 4
        }
        return [UInt8(truncatingIfNeeded: crc), UInt8(truncatingIfNeeded: crc >> 8)]
    }
}
