// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniversalLinks

/// Fetches association files from their sites: only by https, only from the standard path, without redirects, and with
/// limits for size and time.
///
/// The address is checked on each connection, so the name service can't return a public address first and then a
/// private one. Cookies, proxies and compression are not used. The downloads use the system's libcurl, which is opened
/// when it is first needed.
package struct AssociationFetcher: Sendable {
    package struct Options: Sendable, Hashable {
        package var timeout = Duration.seconds(20)
        package var allowsPrivateAddresses = false
        /// The address to connect to instead of the site, as a numeric `ADDRESS:PORT`. The certificate must still be
        /// the site's.
        package var connectTo: String?
        /// A PEM file with the certificates to trust instead of the system's.
        package var authorities: String?

        package init() {}
    }

    package static let path = "/.well-known/apple-app-site-association"

    private let options: Options

    package init(_ options: Options = Options()) { self.options = options }

    /// Fetches the file of a domain, and checks that it is an association file. Only call this for domains that an
    /// installed app lists.
    package func fetch(_ domain: String) async throws(FetchError) -> [UInt8] {
        let result: Result<[UInt8], FetchError> = await withCheckedContinuation { continuation in
            // A separate thread, because the call blocks, and because SIGPIPE must be blocked.
            let thread = Thread { [self] in
                continuation.resume(returning: Result { () throws(FetchError) in try get(domain) })
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        let bytes = try result.get()
        do throws(AssociationFileError) {
            _ = try AssociationFile(parsing: Data(bytes))
        } catch {
            throw FetchError(error.code == .tooLarge ? .tooLarge : .badFile, error.reason)
        }
        return bytes
    }

    private func get(_ domain: String) throws(FetchError) -> [UInt8] {
        guard let host = HostName.ascii(domain), NetworkAddress(host) == nil else {
            throw FetchError(.badDomain, "The domain is not a valid host name.")
        }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let place = try options.connectTo.map(Self.place)
        let download = SiteDownload(host, mayBePrivate: options.allowsPrivateAddresses || place != nil)
        return try download.run(connectingTo: place, trusting: options.authorities, timeout: options.timeout)
    }

    /// Returns the value for libcurl's `CURLOPT_CONNECT_TO` that leads every connection to this address and port.
    private static func place(_ text: String) throws(FetchError) -> String {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            let address = NetworkAddress(text[..<colon].filter { $0 != "[" && $0 != "]" })
        else { throw FetchError(.badDomain, "'\(text)' is not an address with a port, such as 127.0.0.1:8443.") }
        let name = "\(address)"
        return name.contains(":") ? "::[\(name)]:\(port)" : "::\(name):\(port)"
    }
}

package struct FetchError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. The raw value is its name on the command line.
    package enum Code: String, Sendable, Hashable {
        case badDomain = "bad-domain"
        case notFound = "host-not-found"
        /// The domain's address is not on the public internet.
        case privateAddress = "private-address"
        case noConnection = "no-connection"
        case timeout
        case certificate
        case tls
        case libraryMissing = "library-missing"
        case redirect
        /// The site reports that the file does not exist (404 or 410).
        case missing
        case status
        /// The answer is not HTTP/1, or has an encoding that was not requested.
        case badResponse = "bad-response"
        /// The file or the head of the answer is too large.
        case tooLarge = "too-large"
        case truncated
        case badFile = "bad-file"
    }

    package let code: Code
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    package var description: String { "\(code.rawValue): \(reason)" }
}
