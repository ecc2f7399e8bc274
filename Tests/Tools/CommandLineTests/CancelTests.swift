// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

/// A command that waits for a tag, where the sheet does not own the terminal: Ctrl-C is a signal.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct `Ctrl-C while nfc waits for a tag` {
    @Test(
        arguments: [
            ["scan"], ["scan", "--many"], ["write", "a:b"], ["tag", "read"], ["tag", "info"], ["tag", "write", "a:b"],
        ],
        [false, true]
    ) func `It ends with 130 and one sentence`(arguments: [String], json: Bool) throws {
        let scratch = try ScratchFolder()
        // A folder without tags.
        let tags = scratch.path("tags")
        try FileManager.default.createDirectory(atPath: tags, withIntermediateDirectories: true)
        let nfc = Command(
            name: "nfc",
            environment: ["NFC_READER": "virtual", "NFC_TAGS": tags, "NFC_SHEET": "text"]
        )
        let (output, error) = (scratch.path("out"), scratch.path("err"))
        for file in [output, error] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: nfc.path)
        process.arguments = arguments + (json ? ["--json"] : [])
        process.environment = nfc.variables
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle(forWritingAtPath: error)
        try process.run()
        defer {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        func text(_ file: String) throws -> String { try String(contentsOfFile: file, encoding: .utf8) }
        for _ in 0..<6000 {
            if try text(error).contains("[Ready to Scan]") { break }
            usleep(10_000)
        }
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 130)
        let answer = #"{"ok":false,"error":"cancelled","message":"Cancelled."}"# + "\n"
        #expect(try text(output) == (json ? answer : ""))
        #expect(try text(error).hasSuffix("Error: Cancelled.\n") != json)
    }
}
