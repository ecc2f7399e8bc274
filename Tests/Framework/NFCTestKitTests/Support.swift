// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import TagTrace
import Testing

/// What tags hold at first, and what clients write: a longer link, so that it takes several writes.
let oldLink = "https://example.com/old"
let newLink = "https://example.com/new/and/longer"
let linkTag = TagSpec.product("NTAG215", holding: .uri(oldLink))

/// Explores a flow, and returns what does not hold; nil when all does.
func failure<Value: Equatable & Sendable>(
    _ exploration: Exploration,
    near tag: TagSpec = linkTag,
    invariants: [Invariant] = Invariant.all,
    _ flow: @escaping @Sendable (TestField) async throws -> Value
) async throws -> ExplorationFailure? {
    do {
        _ = try await explore(exploration, near: tag, invariants: invariants) { field in try await flow(field) }
        return nil
    } catch let failure as ExplorationFailure {
        return failure
    }
}

/// What a `FieldError` says, another error in words, or "no error".
func reason(_ work: () async throws -> Void) async -> String {
    do {
        try await work()
        return "no error"
    } catch {
        return (error as? FieldError)?.reason ?? "\(error)"
    }
}

/// What a process said on standard error.
func said(_ result: ExitTest.Result?) throws -> String {
    String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
}

/// A sanitizer handles signals itself, reports them, and ends the process with its own exit status.
let isSanitized = unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil

/// The lines of all runs, and their traces and tags, in order.
final class Lines: Sendable {
    private let runs = Locked<[(line: String, trace: Trace, tags: [String])]>([])

    var all: [String] { runs.withLock { $0.map(\.line) } }
    var traces: [Trace] { runs.withLock { $0.map(\.trace) } }
    var tags: [[String]] { runs.withLock { $0.map(\.tags) } }

    var invariant: Invariant {
        Invariant("lines are kept") { [self] run in
            runs.withLock { $0.append((run.replay?.description ?? "none", run.trace, run.tags.map(\.name))) }
            return nil
        }
    }
}

extension Trace {
    /// The notes of a trace, and when they were written.
    var notes: [(text: String, time: Duration)] {
        entries.compactMap { entry in
            if case .note(let text) = entry.event { (text, entry.time ?? .zero) } else { nil }
        }
    }

    /// When a note that begins so was written.
    func time(of text: String) -> Duration? { notes.first { $0.text.hasPrefix(text) }?.time }
}

/// Counts the runs of a flow.
final class RunCount: Sendable {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }

    /// Notes that a run begins. Returns its number, from 1 on. Only the first one has no fault.
    @discardableResult func begin() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// A value that is set on any thread.
final class Box<Value: Sendable>: Sendable {
    private let stored: Locked<Value?> = Locked(nil)

    func set(_ value: Value) { stored.withLock { $0 = value } }
    var value: Value? { stored.withLock { $0 } }
}

/// Lets tasks pass once it is open.
struct Gate: Sendable {
    private let stream = AsyncStream<Void>.makeStream()
    func open() { stream.continuation.finish() }
    func pass() async { for await _ in stream.stream {} }
}

/// A thread that was begun before all fields, and works for all of them.
final class Stranger: @unchecked Sendable {
    // Sendable because of its lock.
    private let condition = NSCondition()
    private var work: [@Sendable () -> Void] = []

    init() {
        Thread.detachNewThread { [self] in
            while true {
                condition.lock()
                while work.isEmpty { condition.wait() }
                let next = work.removeFirst()
                condition.unlock()
                next()
            }
        }
    }

    func perform(_ next: @escaping @Sendable () -> Void) {
        condition.withLock {
            work.append(next)
            condition.signal()
        }
    }
}

/// A delegate that does nothing.
final class Nobody: NSObject, NFCNDEFReaderSessionDelegate, Sendable {
    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}
    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
}

extension NFCNDEFReaderSession {
    /// Begins a session for messages or tags.
    static func begun(_ delegate: any NFCNDEFReaderSessionDelegate) -> NFCNDEFReaderSession {
        let session = NFCNDEFReaderSession(delegate: delegate, queue: .main, invalidateAfterFirstRead: false)
        session.begin()
        return session
    }
}

extension LinkReader {
    /// Reads a link, as the flow of a test.
    @Sendable static func run(_ field: TestField) async throws -> String {
        try await field.completion("read") { LinkReader(queue: .main).begin($0) }.get()
    }

    /// The same while the field's time passes to the session's limit. Returns nil when it fails.
    @discardableResult @Sendable static func runToLimit(_ field: TestField) async -> String? {
        async let link = run(field)
        await field.wait(for: .seconds(70))
        return try? await link
    }
}

extension Result where Failure == any Error {
    /// The code of the error.
    var code: NFCReaderError.Code? {
        if case .failure(let error) = self { (error as? NFCReaderError)?.code } else { nil }
    }
}
