// SPDX-License-Identifier: Apache-2.0

/// Something in an image that its virtual tag does not show.
///
/// An image with remarks can be used. If a file can't be used, reading it throws a ``TagImageError``.
public struct TagImageRemark: Sendable, Hashable, CustomStringConvertible {
    /// The kind of remark; new kinds may be added.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        enum Name: String, Sendable {
            case contradiction
            case missing
            case leftOut = "left-out"
        }

        let name: Name

        /// Two parts of the file contradict each other, such as the UIDs in the header and in the memory.
        public static let contradiction = Kind(name: .contradiction)
        /// The file lacks a part of the real tag's data.
        public static let missing = Kind(name: .missing)
        /// A virtual tag has no place for a part of the file. The part stays in this file, but is lost in a file of
        /// another format.
        public static let leftOut = Kind(name: .leftOut)

        /// The kind's name, as the command line prints it.
        public var description: String { name.rawValue }
    }

    /// The kind of remark.
    public let kind: Kind
    /// The remark, as a sentence for people.
    public let text: String

    /// Creates a remark.
    ///
    /// - Parameters:
    ///   - kind: the kind of remark.
    ///   - text: a sentence for people.
    public init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    public var description: String { "\(kind): \(text)" }
}

extension TagImage {
    /// Lists names for a sentence: at most eight, and the number of the others.
    static func list(_ names: [String]) -> String {
        let shown = names.prefix(8).joined(separator: ", ")
        return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
    }
}
