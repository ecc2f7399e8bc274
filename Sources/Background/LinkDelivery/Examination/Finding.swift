// SPDX-License-Identifier: Apache-2.0

/// The result of checking one thing that background reading needs.
package struct Finding: Sendable, Hashable {
    /// The state of the thing.
    package enum State: String, Sendable, Hashable {
        /// It works.
        case works
        /// It works in part, or something that only some people need is missing.
        case limited
        /// It does not work, and this limits background reading.
        case fails
    }

    /// What was checked, as a word for programs, such as `bus` or `scheme`.
    package var check: String
    /// Which one of several: a scheme, a domain or a file.
    package var subject: String?
    /// The state of the thing.
    package var state: State
    /// The result, as a sentence for people.
    package var text: String
    /// What to do about it; nil when there is nothing to do.
    package var fix: String?

    /// Creates a finding.
    package init(_ check: String, of subject: String? = nil, _ state: State, _ text: String, fix: String? = nil) {
        self.check = check
        self.subject = subject
        self.state = state
        self.text = text
        self.fix = fix
    }
}
