// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime

/// Something that runs on a thread as code of a test.
class CarriedScope {
    final let environment: NFCEnvironment
    /// What the thread was given by a queue, and returns from after this.
    private final let outer: CarriedScope?

    init(_ environment: NFCEnvironment, in outer: CarriedScope? = nil) {
        self.environment = environment
        self.outer = outer
    }

    /// The work that a queue has given to the thread; nil when the thread is no queue's.
    var work: CarriedWork? { outer?.work }
}

/// The test to which the present thread belongs while it runs a block or a job that a test's code has put on a queue.
@safe enum CarriedPlace {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// What the thread runs now as code of a test; nil when that is no test's.
    static var scope: CarriedScope? {
        guard let pointer = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<CarriedScope>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The environment that came with what the thread runs now; nil outside of tests.
    static var ofThread: NFCEnvironment? { scope?.environment }

    /// Does something as code of a test.
    static func within<Value>(_ environment: NFCEnvironment, _ work: () throws -> Value) rethrows -> Value {
        try within(CarriedScope(environment, in: scope), work)
    }

    /// Does something as code of a test.
    static func within<Value>(_ scope: CarriedScope, _ work: () throws -> Value) rethrows -> Value {
        let before = unsafe pthread_getspecific(key)
        unsafe pthread_setspecific(key, Unmanaged.passUnretained(scope).toOpaque())
        defer { unsafe pthread_setspecific(key, before) }
        // The scope is held until then.
        return try withExtendedLifetime(scope) { try work() }
    }

    /// The environment of the test whose code the caller is, by its task, or by what its thread runs; nil where that is not
    /// known, or no field is open.
    static var current: (environment: NFCEnvironment, place: FieldPlace)? {
        guard OpenFields.areThere else { return nil }
        let environment: NFCEnvironment
        if let scoped = NFCEnvironment.scoped {
            environment = scoped
        } else if let carried = ofThread {
            environment = carried
        } else {
            return nil
        }
        guard let place = environment.place as? FieldPlace, place.isOpen else { return nil }
        return (environment, place)
    }
}
