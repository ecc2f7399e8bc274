// SPDX-License-Identifier: Apache-2.0

/// Whether a reader supports one of Core NFC's calls, with the way it does so or the reason why not.
public struct SupportedAPI: Sendable, Hashable {
    /// How far a call is supported.
    public enum Support: String, Sendable {
        /// Fully.
        case yes
        /// For some of the data that the call may send.
        case partly
        /// Not at all.
        case no
        /// Unknown until a tag of this kind is on the reader.
        case unknown
    }

    /// The call, as written in an app.
    public var name: String
    /// How far the call is supported.
    public var support: Support
    /// How the call is supported, or why not, as a sentence.
    public var reason: String

    /// Creates an entry.
    ///
    /// - Parameters:
    ///   - name: the call, as written in an app.
    ///   - support: how far the call is supported.
    ///   - reason: how the call is supported, or why not, as a sentence.
    public init(name: String, support: Support, reason: String) {
        self.name = name
        self.support = support
        self.reason = reason
    }
}
