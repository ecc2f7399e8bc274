// SPDX-License-Identifier: Apache-2.0

/// Why an association file could not be got. Equal by code.
public struct FetchError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Kind: String, Sendable {
            case badDomain = "bad-domain"
            case notFound = "host-not-found"
            case privateAddress = "private-address"
            case noConnection = "no-connection"
            case timeout
            case certificate
            case tls
            case libraryMissing = "library-missing"
            case redirect
            case missing
            case status
            case badResponse = "bad-response"
            case tooLarge = "too-large"
            case truncated
            case badFile = "bad-file"
        }

        let kind: Kind

        /// The domain is no name of a host.
        public static let badDomain = Code(kind: .badDomain)
        /// The domain has no address.
        public static let notFound = Code(kind: .notFound)
        /// The domain's address is not one of the public internet.
        public static let privateAddress = Code(kind: .privateAddress)
        /// Nobody answers at the address.
        public static let noConnection = Code(kind: .noConnection)
        /// It took too long.
        public static let timeout = Code(kind: .timeout)
        /// The certificate is not valid for the domain.
        public static let certificate = Code(kind: .certificate)
        /// The encrypted connection failed.
        public static let tls = Code(kind: .tls)
        /// libcurl is not installed.
        public static let libraryMissing = Code(kind: .libraryMissing)
        /// The site sends to another place.
        public static let redirect = Code(kind: .redirect)
        /// The site says that there is no such file (404 or 410).
        public static let missing = Code(kind: .missing)
        /// The site answers with another status.
        public static let status = Code(kind: .status)
        /// The answer is not HTTP, or in a form that was not asked for.
        public static let badResponse = Code(kind: .badResponse)
        /// The file, or the head of the answer, is larger than it may be.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The connection ended within the answer.
        public static let truncated = Code(kind: .truncated)
        /// It is no association file.
        public static let badFile = Code(kind: .badFile)

        /// The code's name, as the command line prints it.
        public var description: String { kind.rawValue }

        init(kind: Kind) { self.kind = kind }
    }

    /// The kind of failure.
    public var code: Code
    /// What is wrong, as a sentence for people.
    public var reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { "\(code): \(reason)" }
}

extension FetchError: Hashable {
    public static func == (left: FetchError, right: FetchError) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
