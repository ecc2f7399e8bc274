// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let invalidSystemCode = Rule(
        id: "CFG026",
        severity: .error,
        title: "A FeliCa system code is invalid",
        why: "A system code is 4 hex digits. An invalid code never finds a card.",
        fix: "Write each code as 4 hex digits, such as 88B4.",
        bad: [
            Example.systemCodes("3") + Example.tagReader,
            Example.systemCodes("0x0003") + Example.tagReader,
        ],
        good: [Example.systemCodes("0003") + Example.tagReader],
        check: { unit, findings in
            unit.forEachInfo(Keys.systemCodes) { list, _ in
                guard let values = list.value.array else {
                    findings.add(
                        list.key,
                        "The system code list is \(list.value.kind), but must be an array of strings."
                    )
                    return
                }
                for value in values {
                    let text = value.string ?? ""
                    guard !text.contains("$"), text.count != 4 || Hex.bytes(text) == nil else { continue }
                    let shown = value.string.map { "\"\($0)\"" } ?? value.kind
                    findings.add(list.place(value), "The system code \(shown) is not 4 hex digits.")
                }
            }
        }
    )
}
