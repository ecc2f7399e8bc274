// SPDX-License-Identifier: Apache-2.0

/// A component of the URL that a rule can constrain.
public enum RuleComponent: String, Sendable, Hashable {
    /// The path, key `/`.
    case path
    /// The query, key `?`.
    case query
    /// The fragment, key `#`.
    case fragment
}
