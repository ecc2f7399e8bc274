// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import TestThreads
import Testing

/// How a client comes to make its session.
enum Way: String, CaseIterable, Sendable {
    case mainQueue, globalQueue, ownQueue, barrier, workItem, group, notification, delay, timer, operation
    case task, detachedTask, thread, cThread, delegate

    private static let queue = DispatchQueue(label: "client", attributes: .concurrent)
    private static let operations = OperationQueue()

    /// Does something in this way.
    func perform(_ work: @escaping @Sendable () -> Void) {
        switch self {
        case .mainQueue: DispatchQueue.main.async(execute: work)
        case .globalQueue: DispatchQueue.global(qos: .utility).async(execute: work)
        case .ownQueue: DispatchQueue(label: "client of its own").async(execute: work)
        case .barrier: Self.queue.async(qos: .userInitiated, flags: .barrier, execute: work)
        case .workItem: Self.queue.async(execute: DispatchWorkItem(block: work))
        case .group: Self.queue.async(group: DispatchGroup(), execute: work)
        case .notification:
            let group = DispatchGroup()
            Self.queue.async(group: group) { usleep(1000) }
            group.notify(queue: Self.queue, execute: work)
        case .delay: DispatchQueue.main.asyncAfter(deadline: .now() + 0.5, execute: work)
        case .timer: OneShot.begin(work)
        case .operation: Self.operations.addOperation(work)
        case .task: Task { work() }
        case .detachedTask: Task.detached { work() }
        case .thread: Thread.detachNewThread(work)
        case .cThread: CThread.begin(work)
        case .delegate:
            LinkReader { reader in
                DispatchQueue.main.async(execute: work)
                reader.readLink()
            }.begin { _ in }
        }
    }

    /// A thread that is begun without Foundation.
    private final class CThread {
        private let work: @Sendable () -> Void
        private init(_ work: @escaping @Sendable () -> Void) { self.work = work }

        static func begin(_ work: @escaping @Sendable () -> Void) {
            var thread = pthread_t()
            let context = unsafe Unmanaged.passRetained(CThread(work)).toOpaque()
            let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
                if let context = unsafe context {
                    unsafe Unmanaged<CThread>.fromOpaque(context).takeRetainedValue().work()
                }
                return nil
            }
            if unsafe pthread_create(&thread, nil, body, context) == 0 { pthread_detach(thread) }
        }
    }

    /// A timer that fires once, and holds itself until then.
    private final class OneShot: @unchecked Sendable {
        // Sendable because it is used by the timer's queue alone, once it is activated.
        private var timer: (any DispatchSourceTimer)?

        static func begin(_ work: @escaping @Sendable () -> Void) {
            let itself = OneShot()
            let timer = DispatchSource.makeTimerSource()
            timer.schedule(deadline: .now() + 0.05)
            timer.setEventHandler {
                itself.timer = nil
                work()
            }
            itself.timer = timer
            timer.activate()
        }
    }
}

/// Reads in each way, and looks at what was read, and where.
private func read(_ way: Way, number: Int) async throws {
    let link = "https://example.com/\(way.rawValue)/\(number)"
    try await withField(.product("NTAG215", holding: .uri(link)), grace: .seconds(60)) { field in
        let reader = LinkReader(queue: number.isMultiple(of: 2) ? .main : nil)
        let found: Result<String, any Error> = try await field.completion("read") { done in
            way.perform { reader.begin(done) }
        }
        #expect(try found.get() == link)
        #expect(reader.fields.count == 3 && reader.fields.allSatisfy { $0 === field })
        #expect(field.now < .seconds(10))
        await field.settle()
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A session that is made out of the test's task, beside other tests` {
    @Test(arguments: Way.allCases, 0..<4) func `It has its test's field`(way: Way, number: Int) async throws {
        try await read(way, number: number)
    }
}

@Suite(.serialized, .timeLimit(.minutes(10)))
struct `A session that is made out of the test's task, one after the other` {
    @Test(arguments: Way.allCases) func `It has its test's field`(way: Way) async throws {
        try await read(way, number: 5)
    }
}

/// What an error says.
enum StrangersReason {
    static func of(_ work: () async throws -> Void) async -> String {
        do {
            try await work()
            return "no error"
        } catch {
            return (error as? FieldError)?.reason ?? "\(error)"
        }
    }
}

/// A session that belongs to no test is created in another process, because it fails all tests with open fields.
@Suite(.timeLimit(.minutes(10))) struct `A session whose test nobody knows` {
    @Test(.ownThreads) func `It belongs to the only field that is open`() async {
        await #expect(processExitsWith: .success) {
            let stranger = Stranger()
            let link = "https://example.com/only"
            try await withField(.product("NTAG215", holding: .uri(link))) { field in
                let found: Result<String, any Error> = try await field.completion("read") { done in
                    stranger.perform { LinkReader().begin(done) }
                }
                guard try found.get() == link else { throw CocoaError(.formatting) }
            }
        }
    }

    @Test(.ownThreads)
    func `With several open it ends at once, says where it was made and what to do, and each of their tests fails`()
        async
    {
        await #expect(processExitsWith: .success) {
            let stranger = Stranger()
            let results = await withTaskGroup(of: String.self) { group in
                let areOpen = (Gate(), Gate())
                group.addTask {
                    await StrangersReason.of {
                        try await withField("NTAG215", grace: .seconds(60)) { field in
                            areOpen.0.open()
                            await areOpen.1.pass()
                            stranger.perform { LinkReader().begin { _ in } }
                            let _: Int = try await field.completion("never") { _ in }
                        }
                    }
                }
                group.addTask {
                    await StrangersReason.of {
                        try await withField("NTAG215", grace: .seconds(60)) { field in
                            areOpen.1.open()
                            await areOpen.0.pass()
                            let _: Int = try await field.completion("never") { _ in LinkReader().begin { _ in } }
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for words in ["a thread of its own", "2 fields are open", ".serialized"] {
                for result in results where !result.contains(words) { throw CocoaError(.formatting) }
            }
        }
    }

    @Test(.ownThreads) func `What a library does for all tests is of none of them, while several are open`() async {
        await #expect(processExitsWith: .success) {
            // The first program has Foundation begin the thread on which all end.
            let results = await withTaskGroup(of: String.self) { group in
                let areOpen = [Gate(), Gate()]
                for number in 0...1 {
                    group.addTask {
                        await StrangersReason.of {
                            try await withField(.product("NTAG215", holding: .uri("https://example.com/\(number)"))) {
                                field in
                                areOpen[number].open()
                                await areOpen[1 - number].pass()
                                let found: Result<String, any Error> = try await field.completion("read") { done in
                                    let program = Process()
                                    program.executableURL = URL(filePath: "/bin/true")
                                    program.terminationHandler = { _ in LinkReader().begin(done) }
                                    try? program.run()
                                }
                                guard try found.get() == "https://example.com/\(number)" else { exit(EXIT_FAILURE) }
                            }
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            guard results.allSatisfy({ $0.contains("2 fields are open") }) else { fatalError("\(results)") }
        }
    }

    @Test(.ownThreads) func `A wait of another test goes on until it is signalled`() async {
        await #expect(processExitsWith: .success) {
            let stranger = Stranger()
            let semaphore = DispatchSemaphore(value: 0)
            let wasSignalled = Flag()
            let wentOn = Flag()
            let areOpen = (Gate(), Gate())
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = await StrangersReason.of {
                        try await withField("NTAG215", grace: .seconds(60)) { field in
                            let _: Int = try await field.completion("never") { _ in
                                DispatchQueue.global().async {
                                    areOpen.0.open()
                                    semaphore.wait()
                                    if !wasSignalled.isSet { exit(EXIT_FAILURE) }
                                    wentOn.set()
                                }
                            }
                        }
                    }
                }
                group.addTask {
                    _ = await StrangersReason.of {
                        try await withField("NTAG215", grace: .seconds(60)) { field in
                            await areOpen.0.pass()
                            stranger.perform { LinkReader().begin { _ in } }
                            let _: Int = try await field.completion("never") { _ in }
                        }
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(300))
            wasSignalled.set()
            semaphore.signal()
            try await waitWhile(!wentOn.isSet)
            guard wentOn.isSet else { throw CocoaError(.formatting) }
        }
    }

    /// Something that happened, on any thread.
    final class Flag: @unchecked Sendable {
        // Sendable because of its lock.
        private let lock = NSLock()
        private var value = false
        func set() { lock.withLock { value = true } }
        var isSet: Bool { lock.withLock { value } }
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
            condition.lock()
            work.append(next)
            condition.signal()
            condition.unlock()
        }
    }

    /// Lets tasks pass once it is open.
    struct Gate: Sendable {
        private let stream = AsyncStream<Void>.makeStream()
        func open() { stream.continuation.finish() }
        func pass() async { for await _ in stream.stream {} }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `The search for a field` {
    @Test func `It takes no longer each time, and no more of the stack`() {
        for _ in 0..<20_000 { _ = TestField.current }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `An exploration that tries nothing` {
    @Test func `It fails`() async throws {
        let failure = await #expect(throws: ExplorationFailure.self) {
            try await explore(.everyLoss, near: "NTAG215") { _ in }
        }
        #expect(failure?.invariant == "something is tried")
    }
}
