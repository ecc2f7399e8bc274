// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import NFCLintRules
import Testing

/// A path that neither ends the session nor restarts polling is reported once, by the most specific rule.
@Suite struct HangingPathTests {
    private func ids(_ branch: String) -> [String] {
        let reader = """
            import CoreNFC

            class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                var session: NFCNDEFReaderSession?
                func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                    \(branch)
                    session.invalidate()
                }
            }
            """
        let project = Project(MemoryFiles(["Reader.swift": Array(reader.utf8)]))
        return Linter(Rules.all).check(project).map(\.id).filter { ["SRC012", "SRC030"].contains($0) }
    }

    @Test(arguments: [
        ("if tags.count > 1 { session.alertMessage = \"Hold one badge only.\"; return }", ["SRC030"]),
        ("if tags.count > 1 { print(\"several\"); return }", ["SRC012"]),
        ("if isBusy { session.alertMessage = \"Hold the badge still.\"; return }", ["SRC012"]),
        ("if isBusy { print(\"busy\"); return }", ["SRC012"]),
        ("if tags.count > 1 { session.alertMessage = \"Hold one badge only.\"; session.restartPolling(); return }", []),
        ("if isBusy { session.invalidate(errorMessage: \"The badge was not read.\"); return }", []),
    ])
    func `Path that leaves a session open: SRC030 if its text asks for a single tag, else SRC012`(
        branch: String,
        expected: [String]
    ) {
        #expect(ids(branch) == expected)
    }
}
