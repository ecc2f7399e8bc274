// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCSessions

/// The test that the current thread belongs to while it runs a block or a job that a test's code has put on a queue.
@safe enum CurrentTest {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// The current thread's scope; nil when it runs no code of a test.
    static var scope: CarriedScope? {
        guard let pointer = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<CarriedScope>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Runs `work` as code of a test.
    static func within<Value>(_ environment: NFCEnvironment, _ work: () throws -> Value) rethrows -> Value {
        try within(CarriedScope(environment, in: scope), work)
    }

    /// Runs `work` as code of a test.
    static func within<Value>(_ scope: CarriedScope, _ work: () throws -> Value) rethrows -> Value {
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
        guard let environment, let place = environment.place as? TestTracker else { return nil }
        return (environment, place)
    }

    /// The environment of the thread's scope. Nil if the scope was handed over to the field's caller, or if another
    /// test may use the thread by now.
    static var carried: NFCEnvironment? {
        guard let scope else { return nil }
        if (scope.environment.place as? TestTracker)?.isOpen == true { return scope.environment }
        return scope.isHandedOver || scope.isLasting && OpenFields.exist ? nil : scope.environment
    }

    /// Runs `work` so that what it starts continues for the field's caller.
    static func handingOver(_ work: () -> Void) {
        guard let scope else { return work() }
        let inner = CarriedScope(scope.environment, in: scope)
        inner.isHandedOver = true
        within(inner, work)
    }

    /// Hands the current scope over to the field's caller, because the field has ended.
    static func handOver() { scope?.isHandedOver = true }
}
