// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let unpolledTechnology = Rule(
        id: "SRC035",
        severity: .warning,
        title: "The code handles tags that no session polls for",
        why: "A session finds only the kinds of tags in its polling options, so the code for others never runs.",
        fix: "Add the option to the session, or remove this kind of tag from the code.",
        bad: [
            reader(polling: ".iso14443", handling: "case .feliCa(let card): card.requestResponse { _, _ in }"),
            reader(polling: "[.iso14443, .iso18092]", handling: "case .iso15693(let card): read(card)"),
            reader(polling: ".iso15693", handling: "case let .miFare(card): read(card)"),
        ],
        good: [
            reader(polling: "[.iso14443, .iso15693]", handling: "case .iso15693(let card): read(card)"),
            reader(polling: ".pace", handling: "case .iso7816(let card): read(card)"),
            // A switch needs all cases, and may ask for the identifier of each.
            reader(polling: ".iso14443", handling: "case .feliCa(let card): print(card.currentIDm)"),
            reader(polling: "options", handling: "case .feliCa(let card): read(card)"),
        ],
        check: { unit, findings in
            guard unit.objective.allSatisfy(\.creations.isEmpty),
                let polled = HangingPaths.polled(unit.sessions.creations)
            else { return }
            for (number, function) in unit.ownFunctions {
                for (technology, name) in function.tagPatterns where !polled.contains(technology) {
                    guard function.calls(using: name).contains(where: { sends($0, function, unit) }) else { continue }
                    let option = ["feliCa": "iso18092", "iso15693": "iso15693"][technology] ?? "iso14443"
                    let text = "No session polls for \(option), so no tag is found that \(technology) matches."
                    findings.add(unit.place(name, number), text)
                }
            }
        }
    )

    /// Whether a call sends a command, directly or in the functions that it calls.
    private static func sends(_ call: CallInfo, _ function: FunctionInfo, _ unit: Unit) -> Bool {
        let commands = Names.commands.union(["sendCommand"])
        if commands.contains(call.name) { return true }
        return unit.index.targets(of: call, in: function).contains { unit.calls(unit.index.reach($0), commands) }
    }

    /// A reader with a session, and a case for the tags that it finds.
    private static func reader(polling options: String, handling text: String) -> Example {
        .swift(
            """
            class Reader: NSObject, NFCTagReaderSessionDelegate {
                var session: NFCTagReaderSession?
                func scan(_ options: NFCTagReaderSession.PollingOption) {
                    session = NFCTagReaderSession(pollingOption: \(options), delegate: self)
                }
                func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                    switch tags[0] {
                    \(text)
                    default: session.invalidate()
                    }
                }
                func read(_ card: any NFCNDEFTag) { card.readNDEF { _, _ in self.session?.invalidate() } }
            }
            """
        )
    }
}
