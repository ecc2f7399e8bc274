// SPDX-License-Identifier: Apache-2.0
import CCurl
import CLinuxSupport
import Glibc
import UniversalLinks

/// A single download of a site's association file with the system's libcurl. The calling thread waits.
final class SiteDownload {
    private let host: String
    private let mayBePrivate: Bool
    private var headSize = 0
    private var isHeadComplete = false
    private var body: [UInt8] = []
    private var address: NetworkAddress?
    private var failure: FetchError?

    private static let maximumHeadSize = 16 << 10

    init(_ host: String, mayBePrivate: Bool) {
        self.host = host
        self.mayBePrivate = mayBePrivate
    }

    /// Whether libcurl can be used. The library stays open until the process ends.
    private static let isLoaded: Bool = {
        // Opens libcrypto first. Otherwise libcurl would let OpenSSL free its memory when the process starts to exit,
        // while a download may still use that memory.
        _ = unsafe ocn_crypto_missing()
        return ocn_curl_load()
    }()

    /// Downloads the file.
    ///
    /// - Parameters:
    ///   - place: a value for libcurl's `CURLOPT_CONNECT_TO`; nil to connect to the site.
    ///   - authorities: the path of a PEM file with the certificates to trust instead of the system's.
    func run(
        connectingTo place: String?,
        trusting authorities: String?,
        timeout: Duration
    ) throws(FetchError) -> [UInt8] {
        guard Self.isLoaded else {
            let reason = "libcurl.so.4 is not installed. Install it with: apt-get install libcurl4"
            throw FetchError(.libraryMissing, reason)
        }
        var receiver = unsafe ocn_curl_receiver(
            context: Unmanaged.passUnretained(self).toOpaque(),
            may_connect: { unsafe SiteDownload.at($0)?.mayConnect($1) ?? false },
            take_line: { unsafe SiteDownload.at($0)?.takeLine(bytes($1, $2)) ?? false },
            take_body: { unsafe SiteDownload.at($0)?.takeBody(bytes($1, $2)) ?? false }
        )
        var error = ocn_curl_error()
        let result = withExtendedLifetime(self) {
            unsafe ocn_curl_download(
                "https://\(host)\(AssociationFetcher.path)",
                place,
                authorities,
                Self.milliseconds(timeout),
                AssociationFile.maximumSize,
                &receiver,
                &error
            )
        }
        try Self.check(status: error.status)
        if let failure { throw failure }
        guard result == ocn_curl_ok else { throw self.error(result, text(error), errno: Int32(error.number)) }
        guard isHeadComplete else { throw Self.truncated }
        return body
    }

    /// Throws if the status means that there is no association file. A status below 200 is interim: the final response
    /// follows.
    private static func check(status: Int) throws(FetchError) {
        switch status {
        case ...200: break
        case 300..<400:
            let reason = "The site redirects (status \(status)), which is not allowed for association files."
            throw FetchError(.redirect, reason)
        case 404, 410: throw FetchError(.missing, "The site has no association file (status \(status)).")
        default: throw FetchError(.status, "The site answers with status \(status).")
        }
    }

    /// Returns a time limit for libcurl in whole milliseconds. The minimum is one, because 0 would mean no limit.
    static func milliseconds(_ limit: Duration) -> Int {
        max(1, Int((limit / Duration.milliseconds(1)).rounded(.up)))
    }

    // MARK: Calls from libcurl

    @unsafe private static func at(_ context: UnsafeMutableRawPointer?) -> SiteDownload? {
        unsafe context.map { unsafe Unmanaged<SiteDownload>.fromOpaque($0).takeUnretainedValue() }
    }

    private func mayConnect(_ pointer: UnsafePointer<sockaddr>?) -> Bool {
        guard let pointer = unsafe pointer, let address = unsafe NetworkAddress(pointer) else { return false }
        self.address = address
        return take { () throws(FetchError) in
            guard mayBePrivate || address.isPublic else {
                let reason = "\(host) has the address \(address), which is not on the public internet."
                throw FetchError(.privateAddress, reason)
            }
        }
    }

    private func takeLine(_ bytes: [UInt8]) -> Bool {
        headSize += bytes.count
        if bytes.starts(with: "HTTP/".utf8) { isHeadComplete = false }
        if bytes.allSatisfy({ $0 == 0x0A || $0 == 0x0D }) { isHeadComplete = true }
        return take { () throws(FetchError) in
            guard headSize <= Self.maximumHeadSize else {
                throw FetchError(.tooLarge, "The head of the answer is larger than \(Self.maximumHeadSize) bytes.")
            }
        }
    }

    private func takeBody(_ bytes: [UInt8]) -> Bool {
        take { () throws(FetchError) in
            guard body.count + bytes.count <= AssociationFile.maximumSize else { throw Self.tooLarge }
            body += bytes
        }
    }

    private func take(_ step: () throws(FetchError) -> Void) -> Bool {
        do throws(FetchError) {
            try step()
            return true
        } catch {
            failure = failure ?? error
            return false
        }
    }

    // MARK: Errors

    private static let tooLarge = FetchError(
        .tooLarge,
        "The file is larger than \(AssociationFile.maximumSize) bytes."
    )
    private static let truncated = FetchError(.truncated, "The connection ended before the end of the answer.")

    private func error(_ result: ocn_curl_result, _ text: String, errno: Int32) -> FetchError {
        switch result {
        case ocn_curl_unknown_host: FetchError(.notFound, "\(host) has no address.")
        case ocn_curl_no_connection:
            FetchError(.noConnection, "\(address.map { "\($0)" } ?? host) can't be reached\(reason(errno)).")
        case ocn_curl_timeout: FetchError(.timeout, "The site takes too long to answer.")
        case ocn_curl_bad_certificate: FetchError(.certificate, "The site's certificate is not valid: \(text).")
        case ocn_curl_bad_authorities:
            FetchError(.certificate, "The certificates of the authorities can't be read.")
        case ocn_curl_tls_failed: FetchError(.tls, "The encrypted connection failed: \(text).")
        case ocn_curl_unsupported_protocol, ocn_curl_bad_answer:
            FetchError(.badResponse, "The answer is not HTTP/1: \(text).")
        // libcurl lacks a separate code for this error.
        case ocn_curl_receive_failed where text.contains("chunked-encod"):
            FetchError(.badResponse, "The answer has a chunk that is not valid: \(text).")
        case ocn_curl_partial_file, ocn_curl_receive_failed: Self.truncated
        case ocn_curl_empty_answer, ocn_curl_send_failed: FetchError(.truncated, "The site closed the connection.")
        case ocn_curl_too_large: Self.tooLarge
        default: FetchError(.tls, "libcurl can't get the file (error \(result.rawValue)): \(text).")
        }
    }

    private func reason(_ errno: Int32) -> String {
        errno == 0 ? "" : ": \(unsafe String(cString: strerror(errno)))"
    }

    private func text(_ error: ocn_curl_error) -> String {
        let bytes = unsafe withUnsafeBytes(of: error.text) { unsafe Array($0.prefix { $0 != 0 }) }
        let text = Self.printable(bytes)
        let prefix = "SSL certificate problem: "
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }

    /// Returns the printable ASCII of a message, because a site may have inserted other text.
    static func printable(_ message: [UInt8]) -> String {
        String(decoding: message.filter { (0x20...0x7E).contains($0) }, as: UTF8.self)
    }
}

@unsafe private func bytes(_ start: UnsafePointer<CChar>?, _ count: Int) -> [UInt8] {
    unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
}

package struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        // ::ffff:a.b.c.d stands for the IPv4 address a.b.c.d.
        let isMapped = bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10...11] == [0xFF, 0xFF]
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes)
        } else if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(Array(bytes[..<4]))
        } else {
            return nil
        }
    }

    /// Whether the address is on the public internet, according to IANA's special-purpose registries (RFC 6890).
    package var isPublic: Bool {
        bytes.count == 4 ? Self.isPublicVersion4(bytes) : isPublicVersion6
    }

    private static func isPublicVersion4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _): false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): false
        default: true
        }
    }

    private var isPublicVersion6: Bool {
        // Networks without IPv4 use 64:ff9b::/96. The IPv4 address is in the last four bytes.
        if bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return Self.isPublicVersion4(Array(bytes[12...]))
        }
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        // Teredo and other protocols, documentation, 6to4, documentation.
        case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0D, 0xB8), (0x20, 0x02, _, _), (0x3F, 0xFF, 0x00...0x0F, _):
            return false
        default: return true
        }
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: 64)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        // This can't fail, because the text of every address fits.
        _ = unsafe inet_ntop(family, bytes, &text, 64)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @unsafe init?(_ address: UnsafePointer<sockaddr>) {
        let raw = unsafe UnsafeRawPointer(address)
        switch unsafe Int32(address.pointee.sa_family) {
        case AF_INET:
            let value = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            self.init(unsafe withUnsafeBytes(of: value) { unsafe Array($0) })
        case AF_INET6:
            let value = unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(unsafe withUnsafeBytes(of: value) { unsafe Array($0) })
        default: return nil
        }
    }
}
