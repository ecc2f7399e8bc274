// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let unlistedAID = Rule(
        id: "SRC010",
        severity: .error,
        title: "The code selects an AID that is not in the list",
        why: "A session can only select applications listed in the Info.plist. Selecting any other fails with code 2.",
        fix: "Add the AID to the list.",
        bad: [
            Example.usageAndIdentifier
                + Example.swift(
                    "let apdu = NFCISO7816APDU(instructionClass: 0, instructionCode: 0xA4, p1Parameter: 4, p2Parameter: 0, data: Data([0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]), expectedResponseLength: 256)"
                ),
            Example.usageAndIdentifier
                + Example.swift(
                    """
                    let badge = Data([0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01])
                    let apdu = NFCISO7816APDU(instructionClass: 0, instructionCode: 0xA4, p1Parameter: 4, p2Parameter: 0, data: badge, expectedResponseLength: 256)
                    """
                ),
            Example.usageAndIdentifier
                + Example.swift(
                    """
                    struct Card {
                        func open() { select(Data([0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01])) }
                        func select(_ aid: Data) -> NFCISO7816APDU {
                            NFCISO7816APDU(instructionClass: 0, instructionCode: 0xA4, p1Parameter: 4, p2Parameter: 0, data: aid, expectedResponseLength: 256)
                        }
                    }
                    """
                ),
        ],
        good: [
            Example.usageAndIdentifier
                + Example.swift(
                    "let apdu = NFCISO7816APDU(instructionClass: 0, instructionCode: 0xA4, p1Parameter: 4, p2Parameter: 0, data: Data([0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01]), expectedResponseLength: 256)"
                )
        ],
        check: { unit, findings in
            for variant in unit.appVariants where variant.isInfoKnown {
                let list = Variant.texts(variant.info(Keys.identifiers)).map { $0.uppercased() }
                guard variant.info(Keys.identifiers)?.value.array != nil else { continue }
                let calls = unit.ownCalls(["NFCISO7816APDU"])
                for (bytes, place, number) in calls.flatMap({ selected($0.call, $0.number, unit) }) {
                    let aid = Hex.text(bytes)
                    guard !list.contains(aid) else { continue }
                    // A partial AID may also select a listed AID.
                    if list.contains(where: { $0.hasPrefix(aid) || aid.hasPrefix($0) }) {
                        let text =
                            """
                            The list does not contain the AID \(aid), only a longer or shorter one. Unconfirmed: its \
                            selection may still work.
                            """
                        findings.add(place, text, severity: .warning, isProven: false)
                    } else if unit.mentions([number], ["sendMiFareISO7816Command"]) {
                        let text =
                            """
                            The list does not contain the AID \(aid), so its selection may fail. Unconfirmed for \
                            MIFARE tags.
                            """
                        findings.add(place, text, severity: .warning, isProven: false)
                    } else {
                        findings.add(
                            place,
                            """
                            The AID list of the Info.plist does not contain \(aid), so its selection fails with code \
                            2.
                            """
                        )
                    }
                }
            }
        }
    )
    /// The AIDs that a SELECT command may contain, as far as they are constants.
    private static func selected(_ call: CallInfo, _ number: Int, _ unit: Unit) -> [Constants.Value] {
        guard let data = call.argument("data") else { return [] }
        let instruction = call.argument("instructionCode").map { Constants.number($0) }
        if let instruction, instruction != 0xA4 || call.argument("p1Parameter").flatMap(Constants.number) != 4 {
            return []
        }
        return Constants(unit).values(data, number, unit.place(call.node, number)).compactMap { found in
            var aid = found.bytes
            if instruction == nil {
                // A bare SELECT, without data, selects no AID.
                guard aid.count > 5, aid[1] == 0xA4, aid[2] == 4, aid.count >= 5 + Int(aid[4]) else { return nil }
                aid = Array(aid[5..<(5 + Int(aid[4]))])
            }
            return (5...16).contains(aid.count) ? (aid, found.place, found.number) : nil
        }
    }
}
