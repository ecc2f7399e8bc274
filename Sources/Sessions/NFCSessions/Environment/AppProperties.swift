// SPDX-License-Identifier: Apache-2.0

/// What an app declares in its property list and in its entitlements, as data.
///
/// ```swift
/// AppProperties(
///     infoPlist: ["NFCReaderUsageDescription": "To read your ticket."],
///     entitlements: ["com.apple.developer.nfc.readersession.formats": ["TAG"]]
/// )
/// ```
public struct AppProperties: Sendable, Hashable {
    /// The value of a key: a text, a list of texts, or a flag.
    public struct Value: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
        ExpressibleByBooleanLiteral
    {
        /// The texts; empty for a flag that is not set.
        public var texts: [String]

        /// Creates a value.
        public init(_ texts: [String]) { self.texts = texts }
        public init(stringLiteral text: String) { texts = [text] }
        public init(arrayLiteral texts: String...) { self.texts = texts }
        public init(booleanLiteral isSet: Bool) { texts = isSet ? ["true"] : [] }
    }

    /// The property list; nil when the app has none. Then no entry is required.
    public var infoPlist: [String: Value]?
    /// The entitlements; nil when the app has none. Then no entry is required.
    public var entitlements: [String: Value]?
    /// Whether a missing entry ends the process, and a missing list counts as an empty one.
    public var isStrict: Bool

    /// Creates the declarations of an app.
    ///
    /// - Parameters:
    ///   - infoPlist: the property list.
    ///   - entitlements: the entitlements.
    ///   - isStrict: whether a missing entry ends the process.
    public init(infoPlist: [String: Value]? = nil, entitlements: [String: Value]? = nil, isStrict: Bool = false) {
        self.infoPlist = infoPlist
        self.entitlements = entitlements
        self.isStrict = isStrict
    }
}
