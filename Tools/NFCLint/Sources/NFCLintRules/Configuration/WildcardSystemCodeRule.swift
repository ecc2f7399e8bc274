// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let wildcardSystemCode = Rule(
        id: "CFG027",
        severity: .error,
        title: "A FeliCa system code has a wildcard",
        why: "FF in either byte stands for any value, which iOS does not allow in the list.",
        fix: "List each system code separately.",
        bad: [
            Example.systemCodes("FFFF") + Example.tagReader,
            Example.systemCodes("12FF") + Example.tagReader,
        ],
        good: [Example.systemCodes("12FC") + Example.tagReader],
        check: { unit, findings in
            unit.forEachInfo(Keys.systemCodes) { list, _ in
                for value in list.value.array ?? [] {
                    guard let text = value.string, text.count == 4, let bytes = Hex.bytes(text), bytes.contains(0xFF)
                    else { continue }
                    findings.add(
                        list.place(value),
                        "The system code \(text) has the wildcard FF, which is not allowed."
                    )
                }
            }
        }
    )
}
