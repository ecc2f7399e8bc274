// SPDX-License-Identifier: Apache-2.0

/// What an examination found of one thing that reading in the background needs.
public struct Finding: Sendable, Hashable {
    /// How something is.
    public enum State: String, Sendable, Hashable {
        /// It works.
        case works
        /// It works in part, or something that some people need is missing.
        case limited
        /// It does not work, and reading in the background suffers.
        case fails
    }

    /// What was looked at, as a word for programs: `bus`, `scheme`, ….
    public var check: String
    /// Which one of several: a scheme, a domain, a file.
    public var subject: String?
    /// How it is.
    public var state: State
    /// What was found, as a sentence for people.
    public var text: String
    /// What to do about it; nil where nothing is to be done.
    public var fix: String?

    /// Creates a finding.
    public init(_ check: String, of subject: String? = nil, _ state: State, _ text: String, fix: String? = nil) {
        self.check = check
        self.subject = subject
        self.state = state
        self.text = text
        self.fix = fix
    }
}
