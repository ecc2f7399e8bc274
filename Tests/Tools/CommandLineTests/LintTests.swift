// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite struct `nfc lint` {
    /// Creates a folder with a program of the linter's name, which prints its arguments.
    private static func withLinter(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lint-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appendingPathComponent("nfc-lint")
        try Data("#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 5\n".utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        try body(folder.path)
    }

    @Test func `The linter in PATH gets all words, and its status is that of the command`() throws {
        try Self.withLinter { folder in
            let outcome = try Command(name: "nfc", environment: ["PATH": "\(folder):/usr/bin:/bin"])
                .run(["lint", "--json", "My App", "--fix", "--help"])
            #expect(outcome.status == 5)
            #expect(outcome.output == "--json\nMy App\n--fix\n--help\n")
        }
    }

    @Test func `Without the linter it is said how to get it`() throws {
        let nfc = Command(name: "nfc", environment: ["PATH": "/nowhere"])
        let outcome = try nfc.run(["lint", "."])
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.error.contains("swift build -c release --package-path Tools/NFCLint"))
        let json = try nfc.run(["lint", "--json", "."])
        #expect(json.status == 1 && json.output.hasPrefix("{\"ok\":false,\"error\":\"no-linter\","))
    }
}
