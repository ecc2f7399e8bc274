// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import UniversalLinks

/// Gets association files from their sites: by https alone, from their one place, without redirects, and within bounds of
/// size and time.
///
/// The address that was looked up and found public is the one that is connected to, so that no second answer of the name
/// service can lead elsewhere. There are no cookies, no proxies and no compression.
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
    /// - Returns: the file's octets.
    /// - Throws: ``FetchError``.
    public func fetch(_ domain: String) async throws(FetchError) -> [UInt8] {
        let result: Result<[UInt8], FetchError> = await withCheckedContinuation { continuation in
            // A thread of its own: it waits, and it keeps the signal that a closed connection sends.
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
        let deadline = Deadline(after: options.timeout)
        let (addresses, port) = try places(host, deadline)
        let socket = try connect(addresses, port, deadline)
        let connection = try TLSConnection(socket, host: host, authorities: options.authorities)
        let request = """
            GET \(Self.path) HTTP/1.1\r
            Host: \(host)\r
            User-Agent: OpenCoreNFC\r
            Accept: application/json\r
            Accept-Encoding: identity\r
            Connection: close\r
            \r

            """
        try connection.send(Array(request.utf8))
        var response = HTTPResponse(maximumBody: AssociationFile.maximumSize)
        while !response.isDone {
            // Also a site that sends a little now and then is given up at the deadline.
            guard deadline.milliseconds > 0 else { throw FetchError(.timeout, "The site takes too long to answer.") }
            let octets = try connection.receive()
            if octets.isEmpty { try response.end() } else { try response.take(octets) }
        }
        return response.body
    }

    private func places(_ host: String, _ deadline: Deadline) throws(FetchError) -> ([NetworkAddress], UInt16) {
        if let place = options.connectTo {
            guard let colon = place.lastIndex(of: ":"), let port = UInt16(place[place.index(after: colon)...]),
                let address = NetworkAddress(place[..<colon].filter { $0 != "[" && $0 != "]" })
            else {
                throw FetchError(.badDomain, "'\(place)' is no address with a port, such as 127.0.0.1:8443.")
            }
            return ([address], port)
        }
        let addresses = try lookUp(host, deadline)
        guard !addresses.isEmpty else { throw FetchError(.notFound, "\(host) has no address.") }
        if !options.allowsPrivateAddresses, let address = addresses.first(where: { !$0.isPublic }) {
            throw FetchError(
                .privateAddress,
                "\(host) has the address \(address), which is not of the public internet."
            )
        }
        return (addresses, 443)
    }

    /// Asks the system's resolver, which has no limit of its own that can be set, and stops waiting at the deadline.
    private func lookUp(_ host: String, _ deadline: Deadline) throws(FetchError) -> [NetworkAddress] {
        let answer = LookUp()
        let thread = Thread { answer.finish(NetworkAddress.all(of: host)) }
        thread.stackSize = 1 << 20
        thread.start()
        guard let addresses = answer.wait(deadline) else {
            throw FetchError(.timeout, "The address of \(host) takes too long to look up.")
        }
        return addresses
    }

    private func connect(
        _ addresses: [NetworkAddress],
        _ port: UInt16,
        _ deadline: Deadline
    ) throws(FetchError) -> TCPSocket {
        var failure = FetchError(.noConnection, "The site has no address.")
        for address in addresses.prefix(4) {
            do throws(FetchError) {
                return try TCPSocket(to: address, port: port, until: deadline)
            } catch {
                failure = error
            }
        }
        throw failure
    }
}

/// The answer of the resolver, which may come when nobody waits any more.
private final class LookUp: @unchecked Sendable {
    // Sendable because the addresses are set before the semaphore is signalled, and read after it was waited for.
    private let semaphore = DispatchSemaphore(value: 0)
    private var addresses: [NetworkAddress] = []

    func finish(_ addresses: [NetworkAddress]) {
        self.addresses = addresses
        semaphore.signal()
    }

    func wait(_ deadline: Deadline) -> [NetworkAddress]? {
        semaphore.wait(timeout: .now() + .milliseconds(Int(deadline.milliseconds))) == .success ? addresses : nil
    }
}
