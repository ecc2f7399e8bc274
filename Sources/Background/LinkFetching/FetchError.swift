// SPDX-License-Identifier: Apache-2.0

/// Why an association file could not be fetched. Errors are equal if their codes are.
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

        /// The domain is not a host name.
        public static let badDomain = Code(kind: .badDomain)
        /// The domain has no address.
        public static let notFound = Code(kind: .notFound)
        /// The domain's address is not on the public internet.
        public static let privateAddress = Code(kind: .privateAddress)
        /// Nothing answers at the address.
        public static let noConnection = Code(kind: .noConnection)
        /// The time limit was exceeded.
        public static let timeout = Code(kind: .timeout)
        /// The certificate is not valid for the domain.
        public static let certificate = Code(kind: .certificate)
        /// The encrypted connection failed.
        public static let tls = Code(kind: .tls)
        /// libcurl is not installed.
        public static let libraryMissing = Code(kind: .libraryMissing)
        /// The site redirects.
        public static let redirect = Code(kind: .redirect)
        /// The site reports that the file does not exist (404 or 410).
        public static let missing = Code(kind: .missing)
        /// The site answered with another status.
        public static let status = Code(kind: .status)
        /// The answer is not HTTP/1, or is encoded in a way that was not requested.
        public static let badResponse = Code(kind: .badResponse)
        /// The file or the head of the answer is too large.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The connection ended in the middle of the answer.
        public static let truncated = Code(kind: .truncated)
        /// The file is not an association file.
        public static let badFile = Code(kind: .badFile)

        /// The code's name, as the command line prints it.
        public var description: String { kind.rawValue }

        init(kind: Kind) { self.kind = kind }
    }

    /// The kind of failure.
    public var code: Code
    /// The reason, as a sentence for people.
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
