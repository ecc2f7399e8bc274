// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCRuntime
import NFCTestKit
import TestThreads
import Testing

/// What a client leaves when its test ends.
enum Leftover: String, CaseIterable, Sendable {
    case openSession, openSessionWithTag, leavingSheet, waitingSession, delayedBlock, sleepingTask
}

/// A client that finds a tag, if one is near, and does not clean up.
private final class Careless: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    // Sendable because everything is used on the session's queue, once it has begun.
    private let leftover: Leftover
    private let remains: Remains
    private var sessions: [NFCTagReaderSession] = []
    private var found: (@Sendable () -> Void)?
    private var tag: NFCTag?

    init(_ leftover: Leftover, _ remains: Remains) {
        self.leftover = leftover
        self.remains = remains
    }

    func begin(_ found: @escaping @Sendable () -> Void) {
        self.found = found
        for _ in 0..<(leftover == .waitingSession ? 2 : 1) {
            guard let session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self) else { continue }
            remains.add(session)
            sessions.append(session)
            session.begin()
        }
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {
        if leftover != .openSession { return }
        found?()
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard case .miFare(let miFare)? = tags.first else { return }
        tag = tags.first
        remains.add(miFare)
        switch leftover {
        case .leavingSheet: session.invalidate()
        case .delayedBlock: DispatchQueue.main.asyncAfter(deadline: .now() + 3600) { session.invalidate() }
        case .sleepingTask:
            let owner = self
            Task {
                try await Task.sleep(nanoseconds: 3600_000_000_000)
                owner.sessions = []
            }
        default: break
        }
        found?()
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {}
}

/// Objects that are not kept alive.
private final class Remains: @unchecked Sendable {
    // Sendable because of its lock, and because the referenced object is not used.
    private struct Weak {
        weak let object: AnyObject?
        let name: String
    }

    private let lock = NSLock()
    private var objects: [Weak] = []

    func add(_ object: AnyObject) {
        lock.withLock { objects.append(Weak(object: object, name: "\(type(of: object))")) }
    }

    /// What is alive still.
    var names: [String] { lock.withLock { objects.compactMap { $0.object == nil ? nil : $0.name } } }
    var count: Int { lock.withLock { objects.count } }
}

@Suite(.timeLimit(.minutes(10))) struct `The end of a field` {
    @Test(arguments: Leftover.allCases) func `What a client leaves behind is freed`(leftover: Leftover) async throws {
        let remains = Remains()
        try await withField { field in
            remains.add(field)
            remains.add(field.environment)
            // What is looked at while the test runs, and no longer.
            if let place = field.environment.place { remains.add(place) }
            if leftover != .openSession { remains.add(try await field.bring("NTAG215").virtual) }
            let client = Careless(leftover, remains)
            remains.add(client)
            try await field.completion { done in client.begin { done(()) } }
            // A task that is to sleep does so by then.
            await field.settle()
        }
        #expect(remains.count >= (leftover == .openSession ? 4 : 6))
        // Threads that end what is left let go of it a moment later.
        try await waitWhile(!remains.names.isEmpty)
        #expect(remains.names == [])
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A session that is made when its test's field has ended` {
    /// Starts a session in each way some time after its field has ended, and waits for its result.
    ///
    /// - Parameter last: how the work that is left makes the session in the end.
    /// - Returns: the ways whose session did not end with the right error, with the actual result.
    private static func wrong(
        _ ways: [Way],
        lastBy last: Way = .detachedTask,
        during other: @Sendable (@escaping @Sendable () async throws -> Void) async throws -> Void
    ) async throws
        -> [String]
    {
        var wrong: [String] = []
        for way in ways {
            let result = Box<Result<String, any Error>>()
            let hasEnded = `A session whose test nobody knows`.Flag()
            try await withField { _ in
                way.perform {
                    while !hasEnded.isSet { usleep(1000) }
                    // On, by a queue and by a delay: all of it is still the test's.
                    DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) {
                        last.perform { LinkReader().begin { result.set($0) } }
                    }
                }
            }
            try await other {
                hasEnded.set()
                waitWhile(result.value == nil)
            }
            guard case .failure(let error)? = result.value,
                (error as? NFCReaderError)?.code == .readerSessionInvalidationErrorSystemIsBusy
            else {
                wrong.append("\(way): \(String(describing: result.value))")
                continue
            }
        }
        return wrong
    }

    @Test(.ownThreads) func `It ends with an error, and does not meet the process's reader`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let wrong = try await Self.wrong([.globalQueue, .task, .detachedTask, .thread]) { try await $0() }
            guard wrong.isEmpty else { fatalError("\(wrong)") }
        }
        let said = try CrashTests.said(result)
        #expect(said.contains("begun by what a test has left behind, when the test's field had ended"), "\(said)")
    }

    @Test(.ownThreads) func `It ends with an error, and does not meet another test's tag`() async {
        await #expect(processExitsWith: .success) {
            let wrong = try await Self.wrong([.globalQueue, .task, .detachedTask]) { work in
                try await withField(.product("NTAG215", holding: .uri("https://example.com/other"))) { _ in
                    try await work()
                }
            }
            guard wrong.isEmpty else { fatalError("\(wrong)") }
        }
    }

    @Test(.ownThreads) func `A timer, a work item or a block of what is left does not meet another test's tag`() async {
        await #expect(processExitsWith: .success) {
            for last in [Way.timer, .workItem, .globalQueue] {
                let wrong = try await Self.wrong([.globalQueue], lastBy: last) { work in
                    try await withField(.product("NTAG215", holding: .uri("https://example.com/other"))) { _ in
                        try await work()
                    }
                }
                guard wrong.isEmpty else { fatalError("\(last): \(wrong)") }
            }
        }
    }

    @Test(.ownThreads) func `A block that what is left enqueues while no field is open is still the test's`() async {
        await #expect(processExitsWith: .success) {
            for last in [Way.globalQueue, .workItem, .timer] {
                let wrong = try await Self.wrong([.globalQueue], lastBy: last) { try await $0() }
                guard wrong.isEmpty else { fatalError("\(last): \(wrong)") }
            }
        }
    }

    @Test(.ownThreads) func `A task that slept until then ends with an error too`() async {
        await #expect(processExitsWith: .success) {
            let result = Box<Result<String, any Error>>()
            try await withField { field in
                Task {
                    try? await Task.sleep(for: .seconds(3600))
                    await Task.detached { LinkReader().begin { result.set($0) } }.value
                }
                await field.settle()
            }
            try await waitWhile(result.value == nil)
            guard case .failure? = result.value else { fatalError("\(String(describing: result.value))") }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `What comes after a field` {
    /// Whether the caller and its tasks belong to no test.
    private static func isOfNoTest() async -> Bool {
        guard NFCEnvironment.current === NFCEnvironment.process else { return false }
        let inTask = await Task.detached { NFCEnvironment.current === NFCEnvironment.process }.value
        let onQueue = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: NFCEnvironment.current === NFCEnvironment.process)
            }
        }
        try? await Task.sleep(for: .milliseconds(2))
        return inTask && onQueue && NFCEnvironment.current === NFCEnvironment.process
    }

    @Test(.ownThreads) func `The code behind withField is of no test`() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<20 {
                try await withField("NTAG215") { field in
                    _ = try await field.completion { LinkReader().begin($0) }
                }
                guard await Self.isOfNoTest() else { fatalError("It belongs to the field that has ended.") }
            }
        }
    }

    @Test(.ownThreads) func `The code behind an exploration is of no test`() async {
        await #expect(processExitsWith: .success) {
            try await explore(.losses, near: PlantedBug.link) { field in
                _ = try await field.completion { LinkReader().begin($0) }.get()
            }
            guard await Self.isOfNoTest() else { fatalError("It belongs to a field that has ended.") }
        }
    }

    @Test(.ownThreads) func `The code behind a flow that departs from its recording is of no test`() async {
        await #expect(processExitsWith: .success) {
            let reader = TestReader.recording(try await `What a test runs on`.recorded())
            let flow: @Sendable (TestField) async throws -> Void = { field in
                let _: Result<String, any Error> = try await field.completion("write") {
                    Writer("https://example.com/other").start($0)
                }
            }
            await #expect(throws: FieldError(.badRecording, "")) {
                try await explore(.everyLoss, invariants: [], reader: reader) { field in try await flow(field) }
            }
            guard await Self.isOfNoTest() else { fatalError("It belongs to the field of the exploration.") }
            await #expect(throws: FieldError(.badRecording, "")) {
                try await withField(reader: reader) { field in try await flow(field) }
            }
            guard await Self.isOfNoTest() else { fatalError("It belongs to the field that has ended.") }
        }
    }

    @Test func `The code behind a test with the trait is not of its field`() async throws {
        let test = try #require(Test.current)
        for _ in 0..<20 {
            let trait: FieldTrait = .field("NTAG215")
            let ended = Box<NFCEnvironment>()
            try await trait.provideScope(for: test, testCase: Test.Case.current) {
                let field = try #require(TestField.current)
                ended.set(field.environment)
                _ = try await field.completion { LinkReader().begin($0) }
            }
            let environments = [
                NFCEnvironment.current,
                await Task.detached { NFCEnvironment.current }.value,
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async { continuation.resume(returning: NFCEnvironment.current) }
                },
            ]
            #expect(!environments.contains { $0 === ended.value })
        }
    }
}

/// What there is once it was set.
private final class Box<Value: Sendable>: @unchecked Sendable {
    // Sendable because of its lock.
    private let lock = NSLock()
    private var stored: Value?

    func set(_ value: Value) { lock.withLock { stored = value } }
    var value: Value? { lock.withLock { stored } }
}
