// SPDX-License-Identifier: Apache-2.0

/// Something about an image that the virtual tag made of it does not show.
///
/// An image with remarks can be used; a file that can't be used is refused with a ``TagImageError`` instead.
public struct TagImageRemark: Sendable, Hashable, CustomStringConvertible {
    /// The kind of remark; new kinds may be added.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        enum Name: String, Sendable {
            case contradiction
            case missing
            case leftOut = "left-out"
        }

        let name: Name

        /// Two parts of the file say different things, such as the UID of the header and that of the memory.
        public static let contradiction = Kind(name: .contradiction)
        /// The file lacks a part of what the real tag held.
        public static let missing = Kind(name: .missing)
        /// A virtual tag has no place for a part of the file. The part stays in this file, and it is lost in a file of
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
    /// Names as a sentence has them; of many, the first and how many more there are.
    static func list(_ names: [String]) -> String {
        let shown = names.prefix(8).joined(separator: ", ")
        return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
    }
}
