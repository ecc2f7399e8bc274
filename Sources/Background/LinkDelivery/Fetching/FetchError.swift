// SPDX-License-Identifier: Apache-2.0

/// Why an association file could not be fetched. Errors are equal if their codes are.
package struct FetchError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; new kinds may be added.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
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
        package static let badDomain = Code(kind: .badDomain)
        /// The domain has no address.
        package static let notFound = Code(kind: .notFound)
        /// The domain's address is not on the public internet.
        package static let privateAddress = Code(kind: .privateAddress)
        /// Nothing answers at the address.
        package static let noConnection = Code(kind: .noConnection)
        /// The time limit was exceeded.
        package static let timeout = Code(kind: .timeout)
        /// The certificate is not valid for the domain.
        package static let certificate = Code(kind: .certificate)
        /// The encrypted connection failed.
        package static let tls = Code(kind: .tls)
        /// libcurl is not installed.
        package static let libraryMissing = Code(kind: .libraryMissing)
        /// The site redirects.
        package static let redirect = Code(kind: .redirect)
        /// The site reports that the file does not exist (404 or 410).
        package static let missing = Code(kind: .missing)
        /// The site answered with another status.
        package static let status = Code(kind: .status)
        /// The answer is not HTTP/1, or is encoded in a way that was not requested.
        package static let badResponse = Code(kind: .badResponse)
        /// The file or the head of the answer is too large.
        package static let tooLarge = Code(kind: .tooLarge)
        /// The connection ended in the middle of the answer.
        package static let truncated = Code(kind: .truncated)
        /// The file is not an association file.
        package static let badFile = Code(kind: .badFile)

        /// The code's name, as the command line prints it.
        package var description: String { kind.rawValue }

        init(kind: Kind) { self.kind = kind }
    }

    /// The kind of failure.
    package var code: Code
    /// The reason, as a sentence for people.
    package var reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    package var description: String { "\(code): \(reason)" }
}

extension FetchError: Hashable {
    package static func == (left: FetchError, right: FetchError) -> Bool { left.code == right.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
