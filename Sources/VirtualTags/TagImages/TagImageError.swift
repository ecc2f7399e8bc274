// SPDX-License-Identifier: Apache-2.0

/// Why a tag image could not be read or written. Errors are equal if their codes are.
public struct TagImageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Kind: String, Sendable {
            case unknownFormat = "unknown-format"
            case malformed
            case missingField = "missing-field"
            case inconsistent
            case unsupported
            case tooLarge = "too-large"
            case lossy
        }

        let kind: Kind

        /// The file has an unknown format.
        public static let unknownFormat = Code(kind: .unknownFormat)
        /// A line or value does not follow the format.
        public static let malformed = Code(kind: .malformed)
        /// Required data is missing. The file may have been cut off.
        public static let missingField = Code(kind: .missingField)
        /// Values contradict each other, such as more pages than the product has.
        public static let inconsistent = Code(kind: .inconsistent)
        /// The format is known, but there is no model of this tag or version.
        public static let unsupported = Code(kind: .unsupported)
        /// The file is larger than any image.
        public static let tooLarge = Code(kind: .tooLarge)

        /// The format can't store everything that the tag contains.
        public static let lossy = Code(kind: .lossy)

        /// The code's name, as the command line prints it.
        public var description: String { kind.rawValue }
    }

    /// Boxed, so that the error is one pointer wide.
    private final class Contents: Sendable {
        let code: Code
        let reason: String
        let line: Int?

        init(code: Code, reason: String, line: Int?) {
            self.code = code
            self.reason = reason
            self.line = line
        }
    }

    private let contents: Contents

    /// The kind of failure.
    public var code: Code { contents.code }
    /// The reason, as a sentence for people.
    public var reason: String { contents.reason }
    /// The line of the file, counted from 1; nil when the error is not about a line.
    public var line: Int? { contents.line }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - reason: the reason, as a sentence for people.
    ///   - line: the line of the file, counted from 1.
    public init(_ code: Code, _ reason: String, line: Int? = nil) {
        contents = Contents(code: code, reason: reason, line: line)
    }

    public var description: String {
        line.map { "\(code), line \($0): \(reason)" } ?? "\(code): \(reason)"
    }

    public static func == (lhs: TagImageError, rhs: TagImageError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
