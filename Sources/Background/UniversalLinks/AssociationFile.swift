// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// An `apple-app-site-association` file. It defines which apps open which URLs of a site (Apple, Supporting associated
/// domains).
///
/// If Apple's documents are unclear, this follows recorded answers of Apple's own tool. Keys that are unknown or have a
/// value of the wrong type are ignored. A query dictionary with a value that is not a string has no effect.
public struct AssociationFile: Sendable {
    /// The maximum size of a file in bytes (Apple archive, Support Universal Links: 128 KB).
    public static let maximumSize = 128 << 10

    /// An entry of `details`: apps and the rules for the URLs that they open.
    public struct Details: Sendable {
        /// The application identifiers, in the file's order.
        public var apps: [String]
        /// The rules, in the file's order. The first rule that matches a URL applies.
        public var rules: [Rule]
        /// The position in the file, such as `details[2]`. Ignored values are counted too. In a dictionary, the form
        /// before iOS 9.3, the position is `details.APP`.
        public internal(set) var place: String
    }

    /// A variable. Patterns use it as `$(name)`.
    public struct Variable: Sendable {
        /// The name.
        public var name: String
        /// The values, in the file's order.
        public var values: [String]
    }

    /// A rule.
    public struct Rule: Sendable {
        /// The constraint on the query.
        public enum Query: Sendable, Hashable {
            /// The whole query, as a pattern.
            case whole(String)
            /// The values of some query items, in the order of the items' names.
            case items([Item])
        }

        /// The constraint on the query items with one name.
        public struct Item: Sendable, Hashable {
            /// The name. Names that differ only in how characters are composed are different names.
            public var name: String
            /// The pattern of the value.
            public var pattern: String
        }

        /// The pattern of the path; nil for any path.
        public var path: String?
        /// The constraint on the query; nil for any query.
        public var query: Query?
        /// The pattern of the fragment; nil for any fragment.
        public var fragment: String?
        /// Whether the rule excludes its URLs, so that the apps do not open them.
        public var excludes = false
        /// Whether the case of letters matters.
        public var isCaseSensitive = true
        /// Whether the URL is compared with its percent escapes. Otherwise the escapes are decoded first.
        public var isPercentEncoded = true
        /// The rule's comment. It has no effect.
        public var comment: String?
        /// Whether the rule comes from `paths`, the form before iOS 13.
        public var isLegacy = false
        /// The position in the rule's list in the file, such as `components[1]`. Ignored values are counted too.
        public internal(set) var place: String
    }

    /// The entries of `details`.
    public let details: [Details]
    /// The variables of the file, in the order of their names.
    public let variables: [Variable]
    /// The apps of other services: `webcredentials`, `appclips`, `activitycontinuation`.
    public let otherServices: [String: [String]]
    /// The problems found while reading the file: ignored parts, and parts that never match. ``check()`` finds more.
    public let findings: [LinkFinding]

    /// Parses a file, as served by the site. Throws ``AssociationFileError``.
    public init(parsing data: Data) throws(AssociationFileError) {
        guard data.count <= Self.maximumSize else {
            throw AssociationFileError(
                .tooLarge,
                "The file has \(data.count) bytes; at most \(Self.maximumSize) are allowed."
            )
        }
        // The form for iOS 9 is a signed message in DER.
        if data.first == 0x30, data.dropFirst().first ?? 0 >= 0x80 {
            throw AssociationFileError(.signed, "The file is signed, as for iOS 9. Serve the JSON itself.")
        }
        self = try AssociationFileReader.read(Array(data))
    }

    /// Returns whether a string can be an application identifier: a prefix, a period and a bundle identifier. A bundle
    /// identifier consists of ASCII letters, digits, hyphens and periods (Apple, CFBundleIdentifier). Underscores are
    /// accepted too, because some apps use them.
    public static func isIdentifier(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                        default: false
                        }
                    }
            }
    }

    init(details: [Details], variables: [Variable], otherServices: [String: [String]], findings: [LinkFinding]) {
        self.details = details
        self.variables = variables
        self.otherServices = otherServices
        self.findings = findings
    }
}

/// The reason why a file is not a valid association file.
public struct AssociationFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        case tooLarge
        /// The file is signed, which was only for iOS 9.
        case signed
        case notJSON
        case notAnObject
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence that explains the failure.
    public let reason: String

    /// Creates an error.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }
}
