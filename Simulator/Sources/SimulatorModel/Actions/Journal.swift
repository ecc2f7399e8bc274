// SPDX-License-Identifier: Apache-2.0

/// What a person did with tags and the phone, in order, for a test that does the same.
struct Journal: Sendable {
    /// A step.
    enum Step: Sendable, Hashable {
        /// A tag came near: its id and what it held then, as a JSON image.
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
