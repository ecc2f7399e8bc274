// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let repeatedAID = Rule(
        id: "CFG021",
        severity: .warning,
        title: "An AID is repeated, or in lower case",
        why: """
            iOS ignores repeated AIDs. It reports AIDs in capitals, so comparing them with lower-case text in code \
            fails.
            """,
        fix: "Write each AID once, in capitals.",
        bad: [Example.identifiers("A0000002471001", "a0000002471001") + Example.tagReader],
        good: [Example.identifiers("A0000002471001", "D2760000850101") + Example.tagReader],
        check: { unit, findings in
            unit.forEachInfo(Keys.identifiers) { list, _ in
                let values = (list.value.array ?? []).filter { $0.string.flatMap(Hex.bytes) != nil }
                var seen: Set<String> = []
                let twice = values.filter { !seen.insert($0.string?.uppercased() ?? "").inserted }
                let lower = values.filter { $0.string?.uppercased() != $0.string }
                if let first = twice.first {
                    let more = twice.count == 1 ? "" : " So are \(twice.count - 1) more."
                    findings.add(list.place(first), "The AID \(first.string ?? "") is in the list twice.\(more)")
                } else if let first = lower.first {
                    let more = lower.count == 1 ? "" : " So are \(lower.count - 1) more."
                    let text = "The AID \(first.string ?? "") is in lower case.\(more)"
                    findings.add(list.place(first), text, severity: .info)
                }
            }
        }
    )
}
