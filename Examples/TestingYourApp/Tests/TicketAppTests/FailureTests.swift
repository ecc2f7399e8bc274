// SPDX-License-Identifier: Apache-2.0
#if canImport(NFCTestKit)
    import Foundation
    import NFCTestKit
    import Testing
    import TicketApp

    /// Compares each exploration's output for the three bugs with an example file in `Failures`.
    ///
    /// To regenerate the files, run `WRITE_FAILURES=1 swift test`.
    @Suite(.timeLimit(.minutes(5))) struct `What an exploration prints` {
        @Test func `A continuation that nobody resumes: the failure is that of continuation.txt`() async throws {
            let failure = await #expect(throws: ExplorationFailure.self) {
                try await explore(.everyLoss, near: `Stamping a ticket`.ticket) { _ in
                    try await TicketStamper().stamp("14:05")
                }
            }
            try expect(failure, isIn: "continuation.txt")
        }

        @Test func `A session that nobody invalidates: the failure is that of open-session.txt`() async throws {
            let failure = await #expect(throws: ExplorationFailure.self) {
                try await explore(.losses, near: try `Stamping a ticket`.locked()) { _ in
                    // The app is right to refuse, so the error is not a failure of the flow.
                    _ = try? await TicketStamper().stamp("14:05")
                }
            }
            try expect(failure, isIn: "open-session.txt")
        }

        @Test func `A write without a check of the capacity: the failure is that of capacity.txt`() async throws {
            let failure = await #expect(throws: ExplorationFailure.self) {
                try await explore(.losses, near: `Stamping a ticket`.fullTicket) { _ in
                    try await TicketStamper().stamp("14:05")
                }
            }
            try expect(failure, isIn: "capacity.txt")
        }

        func expect(_ failure: ExplorationFailure?, isIn name: String) throws {
            // Trace lines without a meaning column end in spaces.
            let text =
                try #require(failure).description.split(separator: "\n", omittingEmptySubsequences: false)
                .map { line in String(line.reversed().drop { $0 == " " }.reversed()) }.joined(separator: "\n") + "\n"
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Failures/\(name)")
            if ProcessInfo.processInfo.environment["WRITE_FAILURES"] == "1" {
                try Data(text.utf8).write(to: file)
            }
            #expect(try String(contentsOf: file, encoding: .utf8) == text)
        }
    }
#endif
