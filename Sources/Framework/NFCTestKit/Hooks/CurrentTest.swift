// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions
import Synchronization
import TagLink

/// The test that the current thread belongs to while it runs a block or a job that a test's code has put on a queue.
@safe enum CurrentTest {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// The current thread's scope; nil when it runs no code of a test.
    static var scope: TestScope? {
        guard let pointer = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<TestScope>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Runs `work` as code of a test.
    static func within<Value>(_ environment: NFCEnvironment, _ work: () throws -> Value) rethrows -> Value {
        try within(TestScope(environment, in: scope), work)
    }

    /// Runs `work` as code of a test.
    static func within<Value>(_ scope: TestScope, _ work: () throws -> Value) rethrows -> Value {
        let before = unsafe pthread_getspecific(key)
        unsafe pthread_setspecific(key, Unmanaged.passUnretained(scope).toOpaque())
        defer { unsafe pthread_setspecific(key, before) }
        // Keeps the scope alive until then.
        return try withExtendedLifetime(scope) { try work() }
    }

    /// The environment of the test that the caller belongs to, by its task or by its thread's scope; nil when that is
    /// not known, or the test's field is closed.
    static var current: (environment: NFCEnvironment, place: TestTracker)? {
        guard OpenFields.exist,
            let owner, owner.place.isOpen
        else { return nil }
        return owner
    }

    /// The same, but also for a test whose field has ended: work that it left behind still belongs to it.
    static var owner: (environment: NFCEnvironment, place: TestTracker)? {
        guard OpenFields.wereEverOpened else { return nil }
        let environment = NFCEnvironment.scoped ?? carried
        guard let environment, let place = environment.testContext as? TestTracker else { return nil }
        return (environment, place)
    }

    /// The environment of the thread's scope. Nil if the scope was handed over to the field's caller, or if another
    /// test may use the thread by now.
    static var carried: NFCEnvironment? {
        guard let scope else { return nil }
        if (scope.environment.testContext as? TestTracker)?.isOpen == true { return scope.environment }
        return scope.isDetached || scope.isLasting && OpenFields.exist ? nil : scope.environment
    }

    /// Runs `work` so that what it starts continues for the field's caller.
    static func detached(_ work: () -> Void) {
        guard let scope else { return work() }
        let inner = TestScope(scope.environment, in: scope)
        inner.isDetached = true
        within(inner, work)
    }

    /// Hands the current scope over to the field's caller, because the field has ended.
    static func detach() { scope?.isDetached = true }
}

/// A scope on a thread in which it runs code of a test.
class TestScope {
    final let environment: NFCEnvironment
    /// The enclosing scope, to which the thread returns after this one.
    private final let outer: TestScope?
    /// Whether the scope may still run in the next test: a thread of the app, or a handler of a source.
    private final let lasts: Bool

    init(_ environment: NFCEnvironment, in outer: TestScope? = nil, lasts: Bool = false) {
        self.environment = environment
        self.outer = outer
        self.lasts = lasts
    }

    /// Whether this work continues for the field's caller, to whom the field means nothing after it has ended.
    final var isDetached = false

    /// Whether the thread may still run in the next test.
    final var isLasting: Bool { lasts || outer?.isLasting == true }

    /// Whether it runs on a thread of the app, whose work is not counted.
    var isOfThread: Bool { outer?.isOfThread ?? false }

    /// The work that a queue gave to the thread; nil for a thread without a queue.
    var work: TestWork? { outer?.work }
}

/// The open fields of the process. While there is one, the process's own reader can't be used.
enum OpenFields {
    private static let count = Atomic(0)
    private static let wasAdded = Atomic(false)
    private static let environments = Locked<[NFCEnvironment]>([])

    /// Whether any field is open.
    static var exist: Bool { count.load(ordering: .acquiring) > 0 }
    /// Whether any field has been open so far whose work is counted.
    static var wereEverOpened: Bool { wasAdded.load(ordering: .acquiring) }

    static func add(_ environment: NFCEnvironment) {
        NFCEnvironment.testKit.withLock { $0 = TestTracker.self }
        environments.withLock { $0.append(environment) }
        if ReplacedFunctions.areInEffect { wasAdded.store(true, ordering: .releasing) }
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

    /// Finds the test of a new session whose task does not name it: the test of the thread's work, else the only open
    /// field. If that test has ended, the session ends with an error.
    static func search() -> NFCEnvironment? {
        if let carried = CurrentTest.carried { return carried }
        let open = environments.withLock { $0 }
        return switch open.count {
        case 0: nil
        case 1: open[0]
        default: unknown(among: open)
        }
    }

    /// An environment without a reader, for a session that may belong to any of several tests. None of these tests can
    /// pass, because each may have lost its session.
    private static func unknown(among open: [NFCEnvironment]) -> NFCEnvironment {
        let queue = DispatchLibrary.currentLabel
        // The label of a thread without a queue.
        let isOfThread = queue.isEmpty || queue == "com.apple.root.default-qos.overcommit"
        let reason = """
            This session belongs to no test that is known: it is made on \(isOfThread ? "a thread of its own" : "the queue \"\(queue)\""), \
            by work that did not begin in a test, while \(open.count) fields are open. Make it in the test's task, or in what \
            that begins; or run tests with fields one after the other: write .serialized at the suite that has .field or \
            withField, or use swift test --no-parallel.
            """
        return NFCEnvironment(reader: .none(reason: reason), isOfTest: true) { _ in
            for environment in open {
                (environment.testContext as? TestTracker)?.field?.fail(
                    FieldError(.unknownField, reason),
                    onlyFirst: true
                )
            }
        }
    }
}
