// SPDX-License-Identifier: Apache-2.0

/// Why a file is not a valid association file.
public struct AssociationFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        enum Kind: Sendable { case tooLarge, signed, notJSON, notAnObject }

        let kind: Kind

        /// The file is larger than ``AssociationFile/maximumSize``.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The file is signed, as for iOS 9.
        public static let signed = Code(kind: .signed)
        /// The file is not JSON.
        public static let notJSON = Code(kind: .notJSON)
        /// The file is JSON, but not an object.
        public static let notAnObject = Code(kind: .notAnObject)
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence that explains the failure.
    public var reason: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - reason: a sentence that explains the failure.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }
}
