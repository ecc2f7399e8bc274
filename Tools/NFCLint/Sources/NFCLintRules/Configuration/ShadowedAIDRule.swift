// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let shadowedAID = Rule(
        id: "CFG023",
        severity: .warning,
        title: "A longer AID follows its own prefix",
        why: """
            iOS selects AIDs in list order. A card that has the longer application often accepts its prefix too, so \
            iOS never selects the longer one.
            """,
        fix: "Put the longer AID before the shorter one.",
        bad: [Example.identifiers("A000000247", "A0000002471001") + Example.tagReader],
        good: [Example.identifiers("A0000002471001", "A000000247") + Example.tagReader],
        check: { unit, findings in
            unit.forEachInfo(Keys.identifiers) { list, _ in
                let values = list.value.array ?? []
                var hidden: [(value: ConfigValue, by: String)] = []
                for (index, value) in values.enumerated() {
                    let text = value.string?.uppercased() ?? ""
                    guard Hex.bytes(text) != nil else { continue }
                    let earlier = values[..<index].compactMap { $0.string?.uppercased() }
                    guard
                        let prefix = earlier.first(where: {
                            text.count > $0.count && $0.count >= 10 && text.hasPrefix($0)
                        })
                    else { continue }
                    hidden.append((value, prefix))
                }
                guard let first = hidden.first else { return }
                let more = hidden.count == 1 ? "" : " So do \(hidden.count - 1) more."
                let text =
                    """
                    The AID \(first.value.string ?? "") follows its own prefix \(first.by), which is selected \
                    first.\(more)
                    """
                findings.add(list.place(first.value), text)
            }
        }
    )
}
