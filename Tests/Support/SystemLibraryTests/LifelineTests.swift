// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemLibrary
import TestThreads
import Testing

@Suite struct `A lifeline` {
    @Test func `Nothing is done when it is cut`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-tests-\(UUID().uuidString)").path
        let lifeline = try #require(Lifeline(script: #": >"$0""#, words: [file]))
        // This waits for the end of what would do it.
        lifeline.cut()
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func `There is none for a process that does not exist`() {
        // More than a system has at most (proc(5), pid_max).
        #expect(Lifeline(ending: 1 << 22 + 1) == nil)
    }

    /// A process's name is in the line that has the time of its start too.
    @Test(.ownThreads, .timeLimit(.minutes(5))) func `A process is ended whatever its name is`() async throws {
        let folder = "/tmp/nfc-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = folder + "/a) b (c) S"
        try #require(unsafe symlink("/bin/sleep", program) == 0)
        let process = try ProgramLaunch(program, ["sleep", "60"]).start()
        let lifeline = Lifeline(ending: process)
        #expect(lifeline != nil)
        lifeline?.cut()
        // waitpid for the test's process does not report other children, so this one is waited for separately.
        async let end = processEnd(process)
        await #expect(processExitsWith: .signal(SIGKILL)) { [process = process as Int32] in
            _ = Lifeline(ending: process)
            kill(getpid(), SIGKILL)
        }
        let status = await end
        #expect(status == SIGTERM)
    }
}
