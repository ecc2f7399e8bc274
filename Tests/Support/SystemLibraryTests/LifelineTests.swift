// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemLibrary
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
}
