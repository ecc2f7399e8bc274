// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCRuntime

/// Something that runs on a thread as code of a test.
class CarriedScope {
    final let environment: NFCEnvironment
    /// What the thread was given by a queue, and returns from after this.
    private final let outer: CarriedScope?
    /// Whether it may go on in the next test: a thread of the app's own, or a handler of a source.
    private final let lasts: Bool

    init(_ environment: NFCEnvironment, in outer: CarriedScope? = nil, lasts: Bool = false) {
        self.environment = environment
        self.outer = outer
        self.lasts = lasts
    }

    /// Whether it goes on as work of the field's caller, to whom the field means nothing once it has ended.
    final var isHandedOver = false

    /// Whether the thread is one that may go on in the next test.
    final var isLasting: Bool { lasts || outer?.isLasting == true }

    /// Whether it runs on a thread of the app's own, which no count shows.
    var isOfThread: Bool { outer?.isOfThread ?? false }

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
    /// known, or its field is not open.
    static var current: (environment: NFCEnvironment, place: FieldPlace)? {
        guard OpenFields.areThere, let owner, owner.place.isOpen else { return nil }
        return owner
    }

    /// The same, also of a test whose field has ended: what it has left behind stays its own.
    static var owner: (environment: NFCEnvironment, place: FieldPlace)? {
        guard OpenFields.haveBeenThere else { return nil }
        let environment = NFCEnvironment.scoped ?? carried
        guard let environment, let place = environment.place as? FieldPlace else { return nil }
        return (environment, place)
    }

    /// The environment that came with what the thread runs, unless that has ended for it, or another test may use the thread
    /// by now.
    static var carried: NFCEnvironment? {
        guard let scope else { return nil }
        if (scope.environment.place as? FieldPlace)?.isOpen == true { return scope.environment }
        return scope.isHandedOver || scope.isLasting && OpenFields.areThere ? nil : scope.environment
    }

    /// Has the caller of a field go on, in what this begins.
    static func handingOver(_ work: () -> Void) {
        guard let scope else { return work() }
        let inner = CarriedScope(scope.environment, in: scope)
        inner.isHandedOver = true
        within(inner, work)
    }

    /// What the thread runs now goes on as the caller's of the field, which has ended.
    static func handOver() { scope?.isHandedOver = true }
}
