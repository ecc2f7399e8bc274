// SPDX-License-Identifier: Apache-2.0

/// The user's actions on tags and the phone, in order. "Copy as test" turns them into a test.
struct Journal: Sendable {
    /// A step.
    enum Step: Sendable, Hashable {
        /// A tag was brought near. `image` is the tag's contents at that moment, as a JSON image.
        case bring(tag: String, name: String, image: String, held: Bool, milliseconds: Int?)
        case remove(tag: String)
        case removeAll
        case set(String, JSON)
        case cancel
        case session(app: String)
    }

    private(set) var steps: [Step] = []

    mutating func add(_ step: Step) {
        steps.append(step)
        if steps.count > Limits.journal { steps.removeFirst(steps.count - Limits.journal) }
    }

    mutating func clear() { steps = [] }
}
