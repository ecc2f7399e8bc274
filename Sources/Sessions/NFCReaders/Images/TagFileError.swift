// SPDX-License-Identifier: Apache-2.0
public import TagImages
import VirtualTags

/// Why a file of `NFC_TAGS` can't be used or saved. Errors are equal if their codes are.
public struct TagFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let name: String

        private init(_ name: String) { self.name = name }

        /// The file can't be read.
        public static let unreadable = Code("unreadable-file")

        /// The file can't be written.
        public static let unwritable = Code("unwritable-file")

        /// The file is not an image, or not a usable one.
        public static func image(_ code: TagImageError.Code) -> Code { Code(code.description) }

        public var description: String { name }
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong, and what to do, as sentences for people.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { "\(code): \(reason)" }

    public static func == (lhs: TagFileError, rhs: TagFileError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
