// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import SimulatorModel

/// Decides which browser requests are answered, so that other sites and other users can't access the simulator.
///
/// An address contains a token that works once: the page exchanges it for the session cookie.
public final class PageGuard: Sendable {
    /// Why a request is refused.
    public enum Refusal: Error, Sendable, Hashable {
        case user, host, origin, token, session

        /// A sentence that says what to do.
        public var message: String {
            switch self {
            case .user: "The simulator belongs to another user, or the connection has ended."
            case .host: "The request's host is not this simulator's. Open the address that nfc simulator prints."
            case .origin: "The request comes from another site. Open the address that nfc simulator prints."
            case .token: "The token is wrong, or was already used. nfc simulator prints a new address."
            case .session: "The session cookie is missing or wrong. Open the address that nfc simulator prints."
            }
        }
    }

    /// The maximum number of unused tokens. Beyond it, the oldest token becomes invalid.
    static let maximumTokens = 16

    /// The host and the port of the page. Browsers resolve each name below `localhost` to this machine (RFC 6761, 6.3).
    public let host: String
    private let session = PageGuard.random()
    private let tokens = Locked<[String]>([])

    /// Creates a guard.
    ///
    /// - Parameters:
    ///   - name: the name of the host below `localhost`, see ``name(in:)``.
    ///   - port: the port of the server.
    public init(name: String, port: UInt16) { host = "\(name).localhost:\(port)" }

    /// Returns the random name of the host that a folder stores, or stores a new one.
    ///
    /// Another user can't know the name, so no program of that user can have served the page's origin before, and left
    /// a script in the browser that answers in the page's place. The name stays, and with it what the page has stored.
    static func name(in folder: PrivateFolder) throws(StorageError) -> String {
        let file = "page.name"
        if let bytes = try? folder.read(file, limit: 64) {
            let name = String(decoding: bytes, as: UTF8.self)
            if (16...32).contains(bytes.count), name.allSatisfy({ "a"..."z" ~= $0 || "0"..."9" ~= $0 }) { return name }
        }
        let name = String(random().lowercased().filter { $0 != "-" && $0 != "_" }.prefix(22))
        try folder.replace(file, with: Array(name.utf8), mode: 0o600)
        return name
    }

    // MARK: The session

    /// Creates an address for a browser. The token is in the fragment, which browsers do not send to servers.
    public func makeAddress() -> String {
        let token = Self.random()
        tokens.withLock { tokens in
            if tokens.count == Self.maximumTokens { tokens.removeFirst() }
            tokens.append(token)
        }
        return "http://\(host)/#token=\(token)"
    }

    /// Accepts a token, and makes it invalid.
    public func take(token given: String?) throws(Refusal) {
        let isKnown = tokens.withLock { tokens in
            guard let given, let index = tokens.firstIndex(where: { Self.isEqual($0, given) }) else { return false }
            tokens.remove(at: index)
            return true
        }
        guard isKnown else { throw .token }
    }

    /// The session cookie, as a `Set-Cookie` value. Only this host gets it, on any port.
    public var cookie: String { "\(Self.cookieName)=\(session); Path=/; HttpOnly; SameSite=Strict" }

    private static let cookieName = "nfc-simulator"

    /// Whether the cookies of a request prove that it belongs to the session.
    ///
    /// - Parameter cookies: the request's `Cookie` header; nil if missing.
    public func knows(cookies: String?) -> Bool {
        (cookies ?? "").split(separator: ";").contains {
            Self.isEqual("\(Self.cookieName)=\(session)", $0.drop { $0 == " " })
        }
    }

    // MARK: Origin of a request

    /// Checks the host and the origin of a request.
    ///
    /// - Parameters:
    ///   - host: the `Host` header.
    ///   - origin: the `Origin` header; nil if missing.
    public func check(host: String?, origin: String?) throws(Refusal) {
        guard let given = host?.lowercased(), Self.isEqual(self.host, given) else { throw .host }
        guard origin.map({ $0.lowercased() == "http://\(self.host)" }) ?? true else { throw .origin }
    }

    /// The security headers of every answer.
    public static let headers: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), microphone=(), geolocation=(), usb=(), serial=()"),
    ]

    // MARK: Secrets

    /// 128 random bits, as characters allowed in a URL.
    private static func random() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var generator = SystemRandomNumberGenerator()
        let bits = (generator.next(), generator.next())
        let characters = (0..<22).map { index in
            let word = index < 11 ? bits.0 : bits.1
            return alphabet[Int(word >> (6 * UInt64(index % 11)) & 63)]
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Compares in constant time, so that the duration does not reveal where the texts differ.
    private static func isEqual(_ secret: String, _ given: some StringProtocol) -> Bool {
        guard given.utf8.count == secret.utf8.count else { return false }
        return zip(secret.utf8, given.utf8).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
