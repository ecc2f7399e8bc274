// SPDX-License-Identifier: Apache-2.0

/// Why an electronic travel document could not be made. Equal by code.
public struct EMRTDError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable {
        enum Kind: Sendable { case malformedZone, wrongCheckDigit, unsuitableContents, cryptography }

        let kind: Kind

        /// The machine readable zone has not the lines of TD1, TD2 or TD3, or characters that such a zone does not have.
        public static let malformedZone = Code(kind: .malformedZone)
        /// A check digit of the machine readable zone is another one.
        public static let wrongCheckDigit = Code(kind: .wrongCheckDigit)
        /// A portrait is no JPEG, a data group has a wrong tag, or a signer is none.
        public static let unsuitableContents = Code(kind: .unsuitableContents)
        /// The system's libcrypto is missing, or refused.
        public static let cryptography = Code(kind: .cryptography)
    }

    /// The kind of failure.
    public var code: Code
    /// What is wrong, as a sentence for people.
    public var reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }

    public static func == (lhs: EMRTDError, rhs: EMRTDError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
