// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// An `apple-app-site-association` file: it defines which apps open which URLs of a site (Apple, Supporting associated
/// domains).
///
/// Where Apple's documents are not clear, this follows the recorded answers of Apple's own tool. Keys that are unknown
/// or have a value of the wrong type are ignored. A query dictionary with a value that is not a string has no effect.
public struct AssociationFile: Sendable {
    /// The largest file that is read, in bytes (Apple archive, Support Universal Links: 128 KB).
    public static let maximumSize = 128 << 10

    /// An entry of `details`: apps, and the URLs that they open.
    public struct Details: Sendable {
        /// The application identifiers, in the file's order.
        public var apps: [String]
        /// The rules, in the file's order. The first rule that matches a URL decides.
        public var rules: [Rule]
        /// The position in the file, such as `details[2]`. Values that are ignored have their positions too. In the form
        /// before iOS 9.3, a dictionary, it is `details.APP`.
        public internal(set) var place: String
    }

    /// A variable, which patterns use as `$(name)`.
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
            /// The name. Of two items that differ only in how their characters are composed, each has its own constraint.
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
        /// Whether a URL that matches is not opened by the apps.
        public var excludes = false
        /// Whether the case of letters matters.
        public var isCaseSensitive = true
        /// Whether the URL is compared with its percent escapes. Otherwise they are decoded first.
        public var isPercentEncoded = true
        /// The rule's comment. It has no effect.
        public var comment: String?
        /// Whether the rule is from `paths`, the form before iOS 13.
        public var isLegacy = false
        /// The position in its list in the file, such as `components[1]`. Values that are ignored have their positions
        /// too.
        public internal(set) var place: String
    }

    /// The entries of `details`.
    public let details: [Details]
    /// The variables of the file, in the order of their names.
    public let variables: [Variable]
    /// The apps of other services: `webcredentials`, `appclips`, `activitycontinuation`.
    public let otherServices: [String: [String]]
    /// The problems found while reading the file: what is ignored, and what never matches. ``check()`` finds more.
    public let findings: [LinkFinding]

    /// Reads a file, as the site serves it. Throws ``AssociationFileError``.
    public init(parsing data: Data) throws(AssociationFileError) {
        guard data.count <= Self.maximumSize else {
            throw AssociationFileError(.tooLarge, "The file has \(data.count) bytes; \(Self.maximumSize) is the most.")
        }
        // The form for iOS 9: a signed message in DER.
        if data.first == 0x30, data.dropFirst().first ?? 0 >= 0x80 {
            throw AssociationFileError(.signed, "The file is signed, as for iOS 9. Serve the JSON itself.")
        }
        self = try AssociationFileReader.read(Array(data))
    }

    /// Returns whether a string can be an application identifier: a prefix, a full stop and a bundle identifier. A bundle
    /// identifier has letters, digits, hyphens and full stops of ASCII (Apple, CFBundleIdentifier). Low lines are taken
    /// too: there are apps with them.
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

/// Why a file is not a valid association file.
public struct AssociationFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        case tooLarge
        /// The file is signed, as for iOS 9.
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
