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

    @Test func `It ends with 130 in the middle of a read too`() throws {
        let scratch = try ScratchFolder()
        let (card, line, output) = (scratch.path("card.json"), scratch.path("line"), scratch.path("out"))
        let nfc = Command(name: "nfc", environment: ["NFC_SHEET": "none"])
        // A text of 30000 letters.
        let message = "c1010000753354" + "02656e" + String(repeating: "61", count: 30_000)
        let product = ["--product", "generic Type 4", "--size", "32000"]
        let made = try nfc.run(["tag", "create", "--out", card, "--message", message] + product)
        try #require(made.status == 0, "\(made.error)")
        let emulation = Process()
        emulation.executableURL = URL(fileURLWithPath: nfc.path)
        emulation.arguments = ["emulate", "--image", card, "--pn532", line, "--trace", "--json", "--timeout", "300"]
        emulation.environment = nfc.variables
        emulation.standardInput = FileHandle.nullDevice
        let trace = Pipe()
        emulation.standardOutput = trace
        try emulation.run()
        defer {
            kill(emulation.processIdentifier, SIGKILL)
            emulation.waitUntilExit()
        }
        /// Reads the trace until it has a word.
        func wait(for word: String) throws {
            var text = ""
            while !text.contains(word) {
                let data = trace.fileHandleForReading.availableData
                try #require(!data.isEmpty, "\(text.suffix(200))")
                text += String(decoding: data, as: UTF8.self)
            }
        }
        try wait(for: #""event":"ready""#)
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        let scan = Process()
        scan.executableURL = URL(fileURLWithPath: nfc.path)
        scan.arguments = ["scan", "--reader", "pn532:" + line, "--json"]
        scan.environment = nfc.variables
        scan.standardInput = FileHandle.nullDevice
        scan.standardOutput = FileHandle(forWritingAtPath: output)
        try scan.run()
        defer {
            if scan.isRunning { kill(scan.processIdentifier, SIGKILL) }
        }
        // From now on nobody reads the trace, so the emulation waits, and the read with it.
        try wait(for: "616161")
        kill(scan.processIdentifier, SIGINT)
        scan.waitUntilExit()
        #expect(scan.terminationReason == .exit && scan.terminationStatus == 130)
        let answer = #"{"ok":false,"error":"cancelled","message":"Cancelled."}"# + "\n"
        #expect(try String(contentsOfFile: output, encoding: .utf8) == answer)
    }
}
