// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import Testing

/// A flow that never ends, and what its error says.
@Suite(.timeLimit(.minutes(10))) struct `The error of a flow that does not end` {
    /// Keeps a session, on any thread.
    private final class Kept: @unchecked Sendable {
        // Sendable because it is used by one thread after the other.
        var session: NFCNDEFReaderSession?
        var delegate: Delegate?
    }

    private static func reason(
        limit: Duration = .seconds(600),
        grace: Duration = .milliseconds(50),
        _ body: @escaping @isolated(any) @Sendable (TestField) async throws -> Void
    ) async -> String {
        await StrangersReason.of { try await withField("NTAG215", limit: limit, grace: grace, body) }
    }

    @Test func `It says that the delegate was released`() async {
        let kept = Kept()
        let reason = await Self.reason { field in
            let _: Int = try await field.completion("read") { _ in
                let delegate = Delegate()
                kept.session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
                kept.session?.begin()
            }
        }
        #expect(reason.contains("The delegate of a session was released"), "\(reason)")
        #expect(!reason.contains("continuation"), "\(reason)")
    }

    @Test func `It says that no session has begun`() async {
        let kept = Kept()
        let reason = await Self.reason { field in
            let _: Int = try await field.completion("read") { _ in
                let delegate = Delegate()
                kept.delegate = delegate
                kept.session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
            }
        }
        #expect(reason.contains("call begin()"), "\(reason)")
        #expect(!reason.contains("continuation"), "\(reason)")
    }

    @Test func `It says that the flow takes longer than its limit`() async {
        let reason = await Self.reason(limit: .seconds(5)) { _ in try await Task.sleep(nanoseconds: 9_000_000_000) }
        #expect(reason.contains("its limit is 5 s. The next thing happens at 9 s. Give limit:"), "\(reason)")
        #expect(!reason.contains("continuation"), "\(reason)")
    }

    @Test func `It says so of a run of an exploration, whose limit is the one that is asked for`() async {
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(.losses, near: "NTAG215", limit: .seconds(5), grace: .milliseconds(50)) { _ in
                try await Task.sleep(nanoseconds: 9_000_000_000)
            }
        }
        #expect(failure?.invariant == "the flow ends" && failure?.runs == 1)
        #expect(failure?.finding.contains("its limit is 5 s. The next thing happens at 9 s.") == true)
    }

    @Test func `A flow that takes just as long as its limit ends by itself`() async {
        let reason = await Self.reason(limit: .seconds(5)) { field in
            try await Task.sleep(for: .seconds(5))
            #expect(field.now == .seconds(5))
        }
        #expect(reason == "no error")
    }

    @Test func `It says that a continuation may be missed, and how to hear of it sooner`() async {
        for (grace, seconds) in [
            (Duration.milliseconds(150), "1.5 s"), (.milliseconds(100), "1 s"), (.milliseconds(50), "0.5 s"),
        ] {
            let reason = await Self.reason(grace: grace) { field in
                let _: Int = try await field.completion("read") { _ in LinkReader().begin { _ in } }
            }
            #expect(reason.contains("Look for a continuation that no path resumes."), "\(reason)")
            #expect(reason.contains("Never called: read.") && reason.contains(" for \(seconds) of real"), "\(reason)")
            // A longer one than there is would not report it sooner.
            #expect(reason.contains("grace: .milliseconds(100)") == (grace > .milliseconds(100)), "\(reason)")
        }
    }

    @Test func `It says that a retry has no limit`() async {
        let isOver = `A session whose test nobody knows`.Flag()
        let reason = await Self.reason { field in
            let _: Int = try await field.completion("read") { _ in Self.retry(until: isOver) }
        }
        isOver.set()
        #expect(reason.contains("Look for a retry without a limit"), "\(reason)")
    }

    private static func retry(until isOver: `A session whose test nobody knows`.Flag) {
        guard !isOver.isSet else { return }
        // Some 25,000 tries are needed: each takes as long as a quick one does.
        usleep(50)
        DispatchQueue.global().async { retry(until: isOver) }
    }

    @Test func `An exploration in a field says that it makes fields of its own`() async {
        let reason = await Self.reason { _ in _ = try await explore(.losses, near: "NTAG215") { _ in } }
        #expect(reason.contains("call explore outside of withField"), "\(reason)")
    }

    private final class Delegate: NSObject, NFCNDEFReaderSessionDelegate {
        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
    }
}
