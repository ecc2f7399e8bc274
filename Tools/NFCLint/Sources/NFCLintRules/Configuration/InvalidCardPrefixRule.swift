// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let invalidCardPrefix = Rule(
        id: "CFG041",
        severity: .error,
        title: "A card emulation prefix is invalid",
        why: "A prefix is a full AID, or the first bytes of one: at least its RID of 5 bytes, in hex.",
        fix: "Write each prefix as 10 to 32 hex digits.",
        bad: [Example.cardPrefix("A0000002") + Example.minimum("17.4")],
        good: [Example.cardPrefix("A000000247") + Example.minimum("17.4")],
        check: { unit, findings in
            unit.forEachEntitlement(Keys.emulationPrefixes) { list, _ in
                for value in list.value.array ?? [] {
                    let text = value.string ?? ""
                    guard !text.contains("$"), !(5...16).contains(Hex.bytes(text)?.count ?? 0) else { continue }
                    findings.add(list.place(value), "The prefix \"\(text)\" is not 5 to 16 bytes in hex.")
                }
            }
        }
    )
}
