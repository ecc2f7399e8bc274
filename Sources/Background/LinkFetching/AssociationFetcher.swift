// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniversalLinks

/// Gets association files from their sites: by https alone, from their one place, without redirects, and within bounds of
/// size and time.
///
/// Each address is checked when it is connected to, so that no second answer of the name service can lead to a private one.
/// There are no cookies, no proxies and no compression. The system's libcurl does the work, opened when it is first needed.
public struct AssociationFetcher: Sendable {
    /// What is otherwise in development.
    public struct Options: Sendable, Hashable {
        /// How long all of it may take.
        public var timeout = Duration.seconds(20)
        /// Whether a site may have a private address.
        public var allowsPrivateAddresses = false
        /// Where to connect to in place of the site, `ADDRESS:PORT` with a numerical address. The certificate still has to
        /// be the site's.
        public var connectTo: String?
        /// A file of certificates, in PEM, that are trusted in place of the system's.
        public var authorities: String?

        /// Creates options, for the public internet.
        public init() {}
    }

    /// Where the file is on its site.
    public static let path = "/.well-known/apple-app-site-association"

    private let options: Options

    /// Creates a fetcher.
    public init(_ options: Options = Options()) { self.options = options }

    /// Gets the file of a domain, and sees that it is one.
    ///
    /// - Parameter domain: the domain. The caller sees to it that an installed app lists it.
    /// - Returns: the file's bytes.
    /// - Throws: ``FetchError``.
    public func fetch(_ domain: String) async throws(FetchError) -> [UInt8] {
        let result: Result<[UInt8], FetchError> = await withCheckedContinuation { continuation in
            // A thread of its own: it waits, and it blocks the signal of a closed connection.
            let thread = Thread { [self] in
                continuation.resume(returning: Result { () throws(FetchError) in try get(domain) })
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        let octets = try result.get()
        do throws(AssociationFileError) {
            _ = try AssociationFile(parsing: Data(octets))
        } catch {
            throw FetchError(error.code == .tooLarge ? .tooLarge : .badFile, error.reason)
        }
        return octets
    }

    private func get(_ domain: String) throws(FetchError) -> [UInt8] {
        guard let host = HostName.ascii(domain), NetworkAddress(host) == nil else {
            throw FetchError(.badDomain, "The domain is no name of a host.")
        }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let place = try options.connectTo.map(Self.place)
        let download = SiteDownload(host, mayBePrivate: options.allowsPrivateAddresses || place != nil)
        return try download.run(connectingTo: place, trusting: options.authorities, timeout: options.timeout)
    }

    /// A place to connect to, in the form of libcurl: whatever the host and the port, this address and port.
    private static func place(_ text: String) throws(FetchError) -> String {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            let address = NetworkAddress(text[..<colon].filter { $0 != "[" && $0 != "]" })
        else {
            throw FetchError(.badDomain, "'\(text)' is no address with a port, such as 127.0.0.1:8443.")
        }
        let name = "\(address)"
        return name.contains(":") ? "::[\(name)]:\(port)" : "::\(name):\(port)"
    }
}
