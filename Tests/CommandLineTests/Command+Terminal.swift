// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension Command {
    /// Runs the program in a terminal of its own, as a person at the keyboard does: looks for a text that is new on the
    /// screen, then types.
    func runInTerminal(_ steps: [(until: String, type: String)], _ arguments: String...) throws -> Outcome {
        let scratch = try ScratchFolder()
        let screen = scratch.path("screen")
        _ = FileManager.default.createFile(atPath: screen, contents: nil)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
        process.arguments = ["-qefc", ([path] + arguments).joined(separator: " "), "/dev/null"]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let keyboard = Pipe()
        process.standardInput = keyboard
        process.standardOutput = FileHandle(forWritingAtPath: screen)
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { if process.isRunning { process.terminate() } }

        var seen = 0
        for step in steps {
            var found = false
            for _ in 0..<1000 where !found {
                let octets = FileManager.default.contents(atPath: screen) ?? Data()
                if let range = octets.dropFirst(seen).range(of: Data(step.until.utf8)) {
                    seen = range.upperBound
                    found = true
                } else {
                    usleep(10_000)
                }
            }
            try #require(found, "\(step.until) did not appear")
            // What was drawn before the program listens would be lost with the settings of the terminal.
            usleep(50_000)
            try keyboard.fileHandleForWriting.write(contentsOf: Data(step.type.utf8))
        }
        for _ in 0..<1000 where process.isRunning { usleep(10_000) }
        try #require(!process.isRunning, "the program did not end")
        let output = String(decoding: FileManager.default.contents(atPath: screen) ?? Data(), as: UTF8.self)
        return Outcome(status: process.terminationStatus, output: output, error: "")
    }
}
