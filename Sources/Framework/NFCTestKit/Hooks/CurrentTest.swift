// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions
import Synchronization
import TagLink

/// The test of the current thread, while the thread runs a block or a job that a test's code has put on a queue.
@safe enum CurrentTest {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// The current thread's scope; nil when the thread runs no code of a test.
    static var scope: TestScope? {
        guard let pointer = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<TestScope>.fromOpaque(pointer).takeUnretainedValue()
    }

    static func within<Value>(_ environment: NFCEnvironment, _ work: () throws -> Value) rethrows -> Value {
        try within(TestScope(environment, in: scope), work)
    }

    /// Runs `work` as code of a test.
    static func within<Value>(_ scope: TestScope, _ work: () throws -> Value) rethrows -> Value {
        let before = unsafe pthread_getspecific(key)
        unsafe pthread_setspecific(key, Unmanaged.passUnretained(scope).toOpaque())
        defer { unsafe pthread_setspecific(key, before) }
        // The thread-specific value does not keep the scope alive.
        return try withExtendedLifetime(scope) { try work() }
    }

    /// The caller's test, found by its task or its thread's scope; nil when the test is unknown or its field is closed.
    static var current: (environment: NFCEnvironment, tracker: TestTracker)? {
        guard OpenFields.exist,
            let owner, owner.tracker.isOpen
        else { return nil }
        return owner
    }

    /// The caller's test, even if its field is closed, because leftover work still belongs to the test.
    static var owner: (environment: NFCEnvironment, tracker: TestTracker)? {
        guard OpenFields.wereEverOpened else { return nil }
        let environment = NFCEnvironment.scoped ?? environmentOfThread
        guard let environment, let tracker = environment.testContext as? TestTracker else { return nil }
        return (environment, tracker)
    }

    /// The environment of the thread's scope. Nil if the scope now belongs to the field's caller, or if another test
    /// may use the thread by now.
    static var environmentOfThread: NFCEnvironment? {
        guard let scope else { return nil }
        if (scope.environment.testContext as? TestTracker)?.isOpen == true { return scope.environment }
        return scope.isDetached || scope.isLasting && OpenFields.exist ? nil : scope.environment
    }

    /// Runs `work` so that all work it starts belongs to the field's caller.
    static func detached(_ work: () -> Void) {
        guard let scope else { return work() }
        let inner = TestScope(scope.environment, in: scope)
        inner.isDetached = true
        within(inner, work)
    }

    /// Assigns the current scope to the field's caller, because the field has ended.
    static func detach() { scope?.isDetached = true }
}

class TestScope {
    final let environment: NFCEnvironment
    /// The enclosing scope, to which the thread returns after this one.
    private final let outer: TestScope?
    /// Whether the scope is a thread of the app or a handler of a source, which may still run during the next test.
    private final let lasts: Bool

    init(_ environment: NFCEnvironment, in outer: TestScope? = nil, lasts: Bool = false) {
        self.environment = environment
        self.outer = outer
        self.lasts = lasts
    }

    /// Whether this work belongs to the field's caller after the field has ended.
    final var isDetached = false

    /// Whether the scope or an enclosing one may still run during the next test.
    final var isLasting: Bool { lasts || outer?.isLasting == true }

    /// Whether the code runs on a thread of the app, whose work is not tracked.
    var isOnAppThread: Bool { outer?.isOnAppThread ?? false }

    /// The queued work that the thread runs; nil for a thread without a queue.
    var work: TestWork? { outer?.work }
}

/// The open fields of the process. While a field is open, the process's own reader can't be used.
enum OpenFields {
    private static let count = Atomic(0)
    private static let wasAdded = Atomic(false)
    private static let environments = Locked<[NFCEnvironment]>([])

    /// Whether any field is open.
    static var exist: Bool { count.load(ordering: .acquiring) > 0 }
    static var wereEverOpened: Bool { wasAdded.load(ordering: .acquiring) }

    static func add(_ environment: NFCEnvironment) {
        NFCEnvironment.testKit.withLock { $0 = TestTracker.self }
        environments.withLock { $0.append(environment) }
        if ReplacedFunctions.areInEffect {
            wasAdded.store(true, ordering: .releasing)
            ClockReading.watch()
            TrackedSleep.replaceThreadSleep()
        }
        count.add(1, ordering: .releasing)
    }

    static func remove(_ environment: NFCEnvironment) {
        (environment.testContext as? TestTracker)?.close()
        let isIn = environments.withLock { environments in
            guard let index = environments.firstIndex(where: { $0 === environment }) else { return false }
            environments.remove(at: index)
            return true
        }
        if isIn { count.subtract(1, ordering: .releasing) }
    }

    /// Finds the test of a new session without a task-local environment: the test of the thread's work, or else the
    /// only open field. If that test has ended, the session ends with an error.
    static func search() -> NFCEnvironment? {
        if let environmentOfThread = CurrentTest.environmentOfThread { return environmentOfThread }
        let open = environments.withLock { $0 }
        return switch open.count {
        case 0: nil
        case 1: open[0]
        default: unknown(among: open)
        }
    }

    /// Returns an environment without a reader, for a session that may belong to any of several tests. All these tests
    /// fail, because each may have lost a session.
    private static func unknown(among open: [NFCEnvironment]) -> NFCEnvironment {
        let queue = DispatchLibrary.currentLabel
        // Threads without a queue have this label.
        let hasNoQueue = queue.isEmpty || queue == "com.apple.root.default-qos.overcommit"
        let place = hasNoQueue ? "a thread without a queue" : "the queue \"\(queue)\""
        let reason = """
            Can't determine which test this session belongs to: it was created on \(place), by work that did not start \
            in a test, while \(open.count) fields are open. Create it in the test's task, or in work that it starts; \
            or run tests with fields one after the other: write .serialized at the suite that has .field or withField, \
            or use swift test --no-parallel.
            """
        return NFCEnvironment(reader: .none(reason: reason), belongsToTest: true) { _ in
            for environment in open {
                (environment.testContext as? TestTracker)?.field?.fail(
                    FieldError(.unknownField, reason),
                    onlyFirst: true
                )
            }
        }
    }
}
