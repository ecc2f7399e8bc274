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
        "Independent client in Python: its tests pass with the simulator",
        .timeLimit(.minutes(5)),
        arguments: ["PageTests", "AddressTests", "ProgramTests", "CommandTests", "LastingTests"]
    )
    func clients(_ suite: String) async throws { try await Self.run(suite) }

    @Test(
        "Another user of the machine: gets 403 from the simulator's page, and sees no token",
        .timeLimit(.minutes(5)),
        .enabled(if: geteuid() == 0, "Left out: only root can be another user.")
    )
    func twoUsers() async throws { try await Self.run("TwoUserTests") }

    private static func run(_ suite: String) async throws {
        // A file in place of a pipe: whatever a client has started and left would keep a pipe open.
        let path = FileManager.default.temporaryDirectory.appending(path: "clients-\(UUID().uuidString)").path
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-m", "unittest", "-q", "test_simulator.\(suite)"]
        process.currentDirectoryURL = Self.folder
        var environment = ProcessInfo.processInfo.environment
        environment["NFC_SIMULATOR"] = Self.program
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        process.environment = environment
        let output = try FileHandle(forWritingTo: URL(filePath: path))
        process.standardError = output
        process.standardOutput = output
        try process.run()
        defer { if process.end == nil { kill(process.processIdentifier, SIGKILL) } }
        // No thread waits, so that other tests go on, and the time limit ends this one.
        var status = process.end
        while status == nil {
            try await Task.sleep(for: .milliseconds(20))
            status = process.end
        }
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        #expect(status == 0, "\(text)")
    }
}
