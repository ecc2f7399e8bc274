// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import Synchronization
import TagLink

/// The open fields of the process. While there is one, the process's own reader can't be used.
enum OpenFields {
    private static let count = Atomic(0)
    private static let wasAdded = Atomic(false)
    private static let environments = Locked<[NFCEnvironment]>([])

    /// Whether any field is open.
    static var exist: Bool { count.load(ordering: .acquiring) > 0 }
    /// Whether any field has been open so far.
    static var wereEverOpened: Bool { wasAdded.load(ordering: .acquiring) }

    static func add(_ environment: NFCEnvironment) {
        NFCEnvironment.testKit.withLock { $0 = TestTracker.self }
        environments.withLock { $0.append(environment) }
        wasAdded.store(true, ordering: .releasing)
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
