// SPDX-License-Identifier: Apache-2.0

/// The moment at which a wait ends.
struct Deadline {
    private let end: ContinuousClock.Instant

    /// Begins a wait.
    ///
    /// - Parameter limit: the maximum wait.
    init(after limit: Duration) { end = ContinuousClock.now + limit }

    /// The time that is left; nil when it is over.
    var left: Duration? {
        let left = ContinuousClock.now.duration(to: end)
        return left > .zero ? left : nil
    }
}
