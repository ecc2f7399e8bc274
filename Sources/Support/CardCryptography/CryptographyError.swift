// SPDX-License-Identifier: Apache-2.0

/// Why data could not be encrypted, hashed or signed.
public struct CryptographyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        enum Kind: Sendable { case libraryMissing, wrongLength, refused }

        let kind: Kind

        /// OpenSSL's libcrypto is not installed.
        public static let libraryMissing = Code(kind: .libraryMissing)
        /// The length of a key, an initialisation vector or the data does not fit the cipher.
        public static let wrongLength = Code(kind: .wrongLength)
        /// The library refused the operation.
        public static let refused = Code(kind: .refused)
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence that explains the failure and what to do.
    public var reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }
}
