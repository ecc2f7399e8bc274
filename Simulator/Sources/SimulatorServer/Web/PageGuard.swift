// SPDX-License-Identifier: Apache-2.0
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
            case .host: "The address must begin with 127.0.0.1 or localhost."
            case .origin: "The request comes from another site. Open the address that nfc simulator prints."
            case .token: "The token is wrong, or was already used. nfc simulator prints a new address."
            case .session: "The session cookie is missing or wrong. Open the address that nfc simulator prints."
            }
        }
    }

    /// The maximum number of unused tokens. Beyond it, the oldest token becomes invalid.
    static let maximumTokens = 16

    private let port: UInt16
    private let session = PageGuard.random()
    private let tokens = Locked<[String]>([])

    /// Creates a guard.
    ///
    /// - Parameter port: the port of the server.
    public init(port: UInt16) { self.port = port }

    // MARK: The session

    /// Creates an address for a browser. The token is in the fragment, which browsers do not send to servers.
    public func makeAddress() -> String {
        let token = Self.random()
        tokens.withLock { tokens in
            if tokens.count == Self.maximumTokens { tokens.removeFirst() }
            tokens.append(token)
        }
        return "http://127.0.0.1:\(port)/#token=\(token)"
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

    /// The session cookie, as a `Set-Cookie` value. All ports share cookies, so its name contains the port.
    public var cookie: String { "\(cookieName)=\(session); Path=/; HttpOnly; SameSite=Strict" }

    private var cookieName: String { "nfc-simulator-\(port)" }

    /// Whether the cookies of a request prove that it belongs to the session.
    ///
    /// - Parameter cookies: the request's `Cookie` header; nil if missing.
    public func knows(cookies: String?) -> Bool {
        (cookies ?? "").split(separator: ";").contains {
            Self.isEqual("\(cookieName)=\(session)", $0.drop { $0 == " " })
        }
    }

    // MARK: Origin of a request

    private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

    /// Checks the host and the origin of a request.
    ///
    /// - Parameters:
    ///   - host: the `Host` header.
    ///   - origin: the `Origin` header; nil if missing.
    public func check(host: String?, origin: String?) throws(Refusal) {
        guard let host = host?.lowercased(), hosts.contains(host) else { throw .host }
        guard let origin else { return }
        guard origin.lowercased() == "http://\(host)" else { throw .origin }
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
