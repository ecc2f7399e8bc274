// SPDX-License-Identifier: Apache-2.0

/// Why an electronic travel document could not be created. Errors are equal if their codes are.
public struct EMRTDError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        enum Kind: Sendable { case malformedZone, wrongCheckDigit, unsuitableContents, cryptography }

        let kind: Kind

        /// The machine readable zone does not have the lines of TD1, TD2 or TD3, or contains an invalid character.
        public static let malformedZone = Code(kind: .malformedZone)
        /// A check digit of the machine readable zone is wrong.
        public static let wrongCheckDigit = Code(kind: .wrongCheckDigit)
        /// A portrait is not a JPEG file, a data group has a wrong tag, or the signer is invalid.
        public static let unsuitableContents = Code(kind: .unsuitableContents)
        /// The system's libcrypto is missing, or returned an error.
        public static let cryptography = Code(kind: .cryptography)
    }

    /// The kind of failure.
    public var code: Code
    /// The reason, as a sentence for people.
    public var reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }

    public static func == (lhs: EMRTDError, rhs: EMRTDError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
