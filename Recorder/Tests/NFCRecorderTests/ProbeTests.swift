// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCProbe
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct `The questions of the probe` {
    static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../Answers/opencorenfc.jsonl"
    )

    /// To regenerate the file, run the test with `WRITE_ANSWERS=1`.
    @Test func `OpenCoreNFC gives the answers of its file`() async throws {
        var lines: [String] = []
        for tag in Probe.Tag.allCases {
            let key = "com.apple.developer.nfc.readersession.iso7816.select-identifiers"
            let app = AppProperties(
                infoPlist: [
                    "NFCReaderUsageDescription": "To ask.", key: ["D2760000850101"],
                    "com.apple.developer.nfc.readersession.felica.systemcodes": ["12FC", "86A7"],
                ]
            )
            let product = tag == .type4 ? "generic Type 4" : tag.rawValue
            lines += try await withField(.product(product, holding: .text("Day pass")), app: app) { _ in
                try await Probe.answers(of: tag)
            }
        }
        let text = lines.joined(separator: "\n") + "\n"
        let file = Self.file
        if ProcessInfo.processInfo.environment["WRITE_ANSWERS"] == "1" { try Data(text.utf8).write(to: file) }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }

    @Test func `The comparison prints the answers of a phone that differ`() throws {
        let ours = try String(contentsOf: Self.file, encoding: .utf8)
        let question = #"{"answer":"NFCError 100","question":"refusal","tag":"NTAG215"}"#
        let phone = ours.replacing(question, with: question.replacing("NFCError 100", with: "00"))
        for (answers, status, output) in [
            (ours, 0, ""), (phone, 1, "NTAG215: refusal: phone 00, OpenCoreNFC NFCError 100\n"),
        ] {
            let file = FileManager.default.temporaryDirectory.appending(path: "phone-\(UUID()).jsonl")
            try Data(answers.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let comparison = Process()
            comparison.executableURL = Self.file.deletingLastPathComponent().appending(path: "compare")
            comparison.arguments = [file.path]
            let pipe = Pipe()
            comparison.standardOutput = pipe
            comparison.standardError = FileHandle.nullDevice
            try comparison.run()
            let text = try pipe.fileHandleForReading.readToEnd() ?? Data()
            comparison.waitUntilExit()
            #expect(String(decoding: text, as: UTF8.self) == output && comparison.terminationStatus == status)
        }
    }
}
