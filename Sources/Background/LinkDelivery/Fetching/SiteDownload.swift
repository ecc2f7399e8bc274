// SPDX-License-Identifier: Apache-2.0
import CCurl
import CLinuxSupport
import Glibc
import UniversalLinks

/// A single download of a site's association file with the system's libcurl. It blocks the calling thread.
final class SiteDownload {
    private let host: String
    private let mayBePrivate: Bool
    private var headSize = 0
    private var isHeadComplete = false
    private var body: [UInt8] = []
    /// The address of the last connection.
    private var address: NetworkAddress?
    private var failure: FetchError?

    private static let maximumHeadSize = 16 << 10

    /// - Parameter mayBePrivate: whether the site may have a private address.
    init(_ host: String, mayBePrivate: Bool) {
        self.host = host
        self.mayBePrivate = mayBePrivate
    }

    /// Whether libcurl can be used. It stays open until the process ends.
    private static let isLoaded: Bool = {
        // libcrypto is opened first. Otherwise libcurl lets OpenSSL free its memory when the process starts to exit,
        // while a download may still use it.
        _ = unsafe ocn_crypto_missing()
        return ocn_curl_load()
    }()

    /// Downloads the file.
    ///
    /// - Parameters:
    ///   - place: where to connect instead of the site, as libcurl's `CURLOPT_CONNECT_TO`; nil for the site.
    ///   - authorities: the path of a PEM file with the certificates to trust instead of the system's.
    func run(
        connectingTo place: String?,
        trusting authorities: String?,
        timeout: Duration
    ) throws(FetchError) -> [UInt8] {
        guard Self.isLoaded else {
            throw FetchError(
                .libraryMissing,
                "libcurl.so.4 is not installed. Install it with: apt-get install libcurl4"
            )
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

    /// Throws for a status without an association file. Statuses below 200 are followed by the final answer.
    private static func check(status: Int) throws(FetchError) {
        switch status {
        case ...200: break
        case 300..<400:
            throw FetchError(
                .redirect,
                "The site redirects (status \(status)); an association file has to be at its place."
            )
        case 404, 410: throw FetchError(.missing, "The site has no association file (status \(status)).")
        default: throw FetchError(.status, "The site answers with status \(status).")
        }
    }

    /// Returns a time limit for libcurl: whole milliseconds, at least one, because 0 would be no limit.
    static func milliseconds(_ limit: Duration) -> Int {
        max(1, Int((limit / Duration.milliseconds(1)).rounded(.up)))
    }

    // MARK: What libcurl reports

    @unsafe private static func at(_ context: UnsafeMutableRawPointer?) -> SiteDownload? {
        unsafe context.map { unsafe Unmanaged<SiteDownload>.fromOpaque($0).takeUnretainedValue() }
    }

    private func mayConnect(_ pointer: UnsafePointer<sockaddr>?) -> Bool {
        guard let pointer = unsafe pointer, let address = unsafe NetworkAddress(pointer) else { return false }
        self.address = address
        return take { () throws(FetchError) in
            guard mayBePrivate || address.isPublic else {
                throw FetchError(
                    .privateAddress,
                    "\(host) has the address \(address), which is not of the public internet."
                )
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
    private static let truncated = FetchError(.truncated, "The connection ended within the answer.")

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
        // libcurl has no separate code for this.
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

    /// Returns the printable ASCII of a message, because a site may have put other text in it.
    static func printable(_ message: [UInt8]) -> String {
        String(decoding: message.filter { (0x20...0x7E).contains($0) }, as: UTF8.self)
    }
}

@unsafe private func bytes(_ start: UnsafePointer<CChar>?, _ count: Int) -> [UInt8] {
    unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
}
