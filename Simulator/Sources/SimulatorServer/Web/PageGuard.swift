// SPDX-License-Identifier: Apache-2.0

/// Decides which requests of browsers are answered, so that no other site and no other user reaches the simulator.
public struct PageGuard: Sendable {
    /// Why a request is refused.
    public enum Refusal: Error, Sendable, Hashable {
        case host, origin, token

        /// A sentence that says what to do.
        public var message: String {
            switch self {
            case .host: "The address has to begin with 127.0.0.1 or localhost."
            case .origin: "Another site asks for this. Open the address that nfc simulator prints."
            case .token: "The token is missing or wrong. Open the address that nfc simulator prints."
            }
        }
    }

    private let token: [UInt8]
    private let port: UInt16

    /// Creates a guard.
    ///
    /// - Parameters:
    ///   - token: what a request for data has to have.
    ///   - port: the port of the server.
    public init(token: String, port: UInt16) {
        self.token = Array(token.utf8)
        self.port = port
    }

    /// A random token of 128 bits, for an address.
    public static func makeToken() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var generator = SystemRandomNumberGenerator()
        let bits = (generator.next(), generator.next())
        let characters = (0..<22).map { index in
            let word = index < 11 ? bits.0 : bits.1
            return alphabet[Int(word >> (6 * UInt64(index % 11)) & 63)]
        }
        return String(decoding: characters, as: UTF8.self)
    }

    private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

    /// Checks where a request comes from.
    ///
    /// - Parameters:
    ///   - host: its `Host`.
    ///   - origin: its `Origin`; nil when it has none.
    public func check(host: String?, origin: String?) throws(Refusal) {
        guard let host = host?.lowercased(), hosts.contains(host) else { throw .host }
        guard let origin else { return }
        guard origin.lowercased() == "http://\(host)" else { throw .origin }
    }

    /// Checks a request for data.
    ///
    /// - Parameter given: its token.
    public func check(token given: String?) throws(Refusal) {
        let given = Array((given ?? "").utf8)
        guard given.count == token.count else { throw .token }
        var difference: UInt8 = 0
        for index in token.indices { difference |= token[index] ^ given[index] }
        guard difference == 0 else { throw .token }
    }

    /// The headers of every answer.
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
}
