// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite struct ProgramEndTests {
    @Test func `Process.end: noticed although a program started by the process still runs`() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exec 3<&0; cat <&3 & exit 5"]
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        // Ends cat.
        defer { try? input.fileHandleForWriting.close() }
        let limit = ContinuousClock.now + .seconds(60)
        var status = process.end
        while status == nil, ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(5))
            status = process.end
        }
        #expect(status == 5)
    }
}
