// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let ndefAID = Rule(
        id: "CFG025",
        severity: .info,
        title: "The AID list contains the NDEF application",
        why: """
            If the list contains D2760000850101, Type 4 tags such as DESFire arrive as iso7816 instead of miFare, \
            with the application selected.
            """,
        fix: "Keep it only if the code handles .iso7816 for these tags.",
        bad: [Example.identifiers("D2760000850101") + Example.tagReader],
        good: [Example.usageAndIdentifier + Example.tagReader],
        check: { unit, findings in
            unit.forEachInfo(Keys.identifiers) { list, _ in
                guard let value = list.value.array?.first(where: { $0.string?.uppercased() == "D2760000850101" }) else {
                    return
                }
                findings.add(
                    list.place(value),
                    "The list contains D2760000850101, so Type 4 tags arrive as iso7816 instead of miFare."
                )
            }
        }
    )
}
