// SPDX-License-Identifier: Apache-2.0
import NFCSessions

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
    final var isHandedOver = false

    /// Whether the thread may still run in the next test.
    final var isLasting: Bool { lasts || outer?.isLasting == true }

    /// Whether it runs on a thread of the app, whose work is not counted.
    var isOfThread: Bool { outer?.isOfThread ?? false }

    /// The work that a queue gave to the thread; nil for a thread without a queue.
    var work: TestWork? { outer?.work }
}
