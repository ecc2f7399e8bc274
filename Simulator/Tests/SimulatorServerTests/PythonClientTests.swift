// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Runs the tests in `Tests/clients`: clients in Python that no code of the project helps.
@Suite(.serialized) struct PythonClientTests {
    private static var folder: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "clients")
    }

    /// The program beside the tests.
    private static var program: String {
        Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "nfc-simulator").path ?? ""
    }

    @Test(
        "A client without code of the project gets along with the simulator",
        .timeLimit(.minutes(5)),
        arguments: ["PageTests", "AddressTests", "ProgramTests", "CommandTests", "LastingTests"]
    )
    func clients(_ suite: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-m", "unittest", "-q", "test_simulator.\(suite)"]
        process.currentDirectoryURL = Self.folder
        var environment = ProcessInfo.processInfo.environment
        environment["NFC_SIMULATOR"] = Self.program
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        process.environment = environment
        let output = Pipe()
        process.standardError = output
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
    }
}
