// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCSessions
import NFCTestKit
import TagLink
import TestThreads
import Testing

/// Which test a session belongs to, and what is left when a field has ended.
///
/// A session that belongs to no test is created in another process, because it fails all tests with open fields.
@Suite(.timeLimit(.minutes(10))) struct OwnershipTests {
    // MARK: Work of nobody

    @Test(.ownThreads) func `session begun on a thread outside of all tests, one open field: belongs to that field`()
        async
    {
        await #expect(processExitsWith: .success) {
            let stranger = Stranger()
            try await withField(linkTag) { field in
                let link: Result<String, any Error> = try await field.completion("read") { done in
                    stranger.perform { LinkReader().begin(done) }
                }
                guard try link.get() == oldLink else { fatalError("\(link)") }
            }
        }
    }

    /// Runs two tests at once, each when both fields are open. Returns what their errors say.
    @Sendable private static func two(_ body: @escaping @Sendable (Int, TestField) async throws -> Void) async
        -> [String]
    {
        let areOpen = [Gate(), Gate()]
        return await withTaskGroup(of: String.self) { group in
            for number in 0...1 {
                group.addTask {
                    await reason {
                        try await withField(linkTag, grace: .seconds(60)) { field in
                            areOpen[number].open()
                            await areOpen[1 - number].pass()
                            try await body(number, field)
                        }
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(.ownThreads)
    func `session begun on a thread outside of all tests, two open fields: each test fails with the reason`() async {
        await #expect(processExitsWith: .success) {
            let stranger = Stranger()
            let results = await Self.two { number, field in
                if number == 0 { stranger.perform { LinkReader().begin { _ in } } }
                let _: Int = try await field.completion("never") { _ in LinkReader().begin { _ in } }
            }
            for words in ["a thread without a queue", "2 fields are open", ".serialized"] {
                for result in results where !result.contains(words) { fatalError(result) }
            }
        }
    }

    // MARK: What a client leaves

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
            (self.leftover, self.remains) = (leftover, remains)
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
            if leftover == .openSession { found?() }
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
        // Sendable because of its lock, and because the referenced objects are not used.
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

    @Test(arguments: Leftover.allCases)
    func `ended field: is freed with its tags and the client, whatever work the client has left running`(
        leftover: Leftover
    )
        async throws
    {
        let remains = Remains()
        try await withField { field in
            remains.add(field)
            remains.add(field.environment)
            if let place = field.environment.testContext { remains.add(place) }
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

    /// Starts work in a way, which makes a session in another way when its field has ended.
    ///
    /// - Returns: the code of the session's error.
    @Sendable private static func late(
        _ way: Way,
        then last: Way,
        during other: @Sendable (@escaping @Sendable () async throws -> Void) async throws -> Void
    ) async throws -> NFCReaderError.Code? {
        let (result, hasEnded) = (Box<Result<String, any Error>>(), Box<Bool>())
        try await withField { _ in
            way.perform {
                while hasEnded.value == nil { usleep(1000) }
                // On, by a queue and by a delay: all of it is still the test's.
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) {
                    last.perform { LinkReader().begin { result.set($0) } }
                }
            }
        }
        try await other {
            hasEnded.set(true)
            waitWhile(result.value == nil)
        }
        return result.value?.code
    }

    private static let ways: [(Way, Way)] = [
        (.globalQueue, .detachedTask), (.task, .detachedTask), (.detachedTask, .detachedTask), (.globalQueue, .timer),
        (.globalQueue, .workItem), (.globalQueue, .globalQueue),
    ]

    @Test(.ownThreads) func `session of code that an ended test left running: ends with 203`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            for (way, last) in Self.ways {
                let alone = try await Self.late(way, then: last) { try await $0() }
                let besideTest = try await Self.late(way, then: last) { work in
                    try await withField(linkTag) { _ in try await work() }
                }
                let busy = NFCReaderError.Code.readerSessionInvalidationErrorSystemIsBusy
                guard alone == busy, besideTest == busy else { fatalError("\(way), \(last)") }
            }
        }
        let said = try said(result)
        #expect(said.contains("Code left over from a finished test started a session"), "\(said)")
    }

    // MARK: The code behind a field

    /// Whether the caller and its tasks belong to no test.
    @Sendable private static func belongsToNoTest() async -> Bool {
        let usesProcessEnvironment: @Sendable () -> Bool = { NFCEnvironment.current === NFCEnvironment.process }
        guard usesProcessEnvironment() else { return false }
        let inTask = await Task.detached { usesProcessEnvironment() }.value
        let onQueue = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: usesProcessEnvironment()) }
        }
        try? await Task.sleep(for: .milliseconds(2))
        return inTask && onQueue && usesProcessEnvironment()
    }

    @Test(.ownThreads) func `code after the end of a field or an exploration: has no field any more`() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<20 {
                try await withField(linkTag) { field in _ = try await LinkReader.run(field) }
                guard await Self.belongsToNoTest() else { fatalError("It belongs to the field that has ended.") }
            }
            try await explore(.losses, near: linkTag) { _ = try await LinkReader.run($0) }
            guard await Self.belongsToNoTest() else { fatalError("It belongs to a field of the exploration.") }
        }
    }
}
