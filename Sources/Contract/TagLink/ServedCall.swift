// SPDX-License-Identifier: Apache-2.0

/// Whether a reader serves one of Core NFC's calls, and by what, or why not.
public struct ServedCall: Sendable, Hashable {
    /// How far a call is served.
    public enum Support: String, Sendable {
        /// Whatever the call sends.
        case yes
        /// Some of what the call may send.
        case partly
        /// Not at all.
        case no
        /// It shows when such a tag is on the reader.
        case unknown
    }

    /// The call, as an app writes it.
    public var name: String
    /// How far it is served.
    public var support: Support
    /// By what, or why not, as a sentence.
    public var reason: String

    /// Creates an entry.
    ///
    /// - Parameters:
    ///   - name: the call, as an app writes it.
    ///   - support: how far it is served.
    ///   - reason: by what, or why not, as a sentence.
    public init(name: String, support: Support, reason: String) {
        self.name = name
        self.support = support
        self.reason = reason
    }
}
