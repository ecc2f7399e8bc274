// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import NFCLintRules
import Testing

/// A finding is an error only if the code proves that something does not work.
@Suite struct SeverityTests {
    private func severities(_ id: String, _ files: [String: String]) -> [Severity] {
        let project = Project(MemoryFiles(files.mapValues { Array($0.utf8) }))
        return Linter(Rules.all).check(project).filter { $0.id == id }.map(\.severity)
    }

    @Test(arguments: [
        ("found = badge", Severity.warning), ("badge.sendCommand(apdu: apdu) { _, _, _, _ in }", Severity.error),
    ])
    func `SRC009: an error if the ISO 7816 tag is used, else a warning`(_ use: String, _ severity: Severity) {
        let reader = """
            import CoreNFC

            class Reader: NSObject, NFCTagReaderSessionDelegate {
                var session: NFCTagReaderSession?
                func scan() { session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self) }
                func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                    var found: (any NFCNDEFTag)?
                    switch tags[0] {
                    case let .iso7816(badge): \(use)
                    case let .miFare(badge): badge.queryNDEFStatus { _, _, _ in }
                    default: session.restartPolling()
                    }
                }
            }
            """
        let list = "<plist version=\"1.0\"><dict><key>CFBundleName</key><string>Doors</string></dict></plist>"
        #expect(severities("SRC009", ["Reader.swift": reader, "Info.plist": list]) == [severity])
    }

    @Test(arguments: [
        ("func scan() { reader = Reader(); reader?.start() }", Severity.info),
        ("func scan() { if reader == nil { reader = Reader() }; reader?.start() }", Severity.warning),
        ("func load() { let made = Reader(); button.onTap { made.start() } }", Severity.warning),
        ("func load() { reader = Reader() }; func scan() { reader?.start() }", Severity.warning),
    ])
    func `SRC003: a note if the object is made for one scan, else a warning`(_ code: String, _ severity: Severity) {
        let reader = """
            import CoreNFC

            class Reader: NSObject, NFCTagReaderSessionDelegate {
                var session: NFCTagReaderSession?
                func start() { session = NFCTagReaderSession(pollingOption: .iso15693, delegate: self) }
                func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {}
            }
            class Door {
                var reader: Reader?
                \(code)
            }
            """
        #expect(severities("SRC003", ["Reader.swift": reader]) == [severity])
    }
}
