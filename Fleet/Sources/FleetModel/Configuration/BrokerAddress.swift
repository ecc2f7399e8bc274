// SPDX-License-Identifier: Apache-2.0

/// A broker's address: `mqtts://HOST[:PORT]`, or `mqtt://` without encryption.
package struct BrokerAddress: Sendable, Hashable, CustomStringConvertible {
    package let host: String
    package let port: Int
    /// Whether the connection is encrypted.
    package let usesTLS: Bool

    package init(host: String, port: Int, usesTLS: Bool) {
        self.host = host
        self.port = port
        self.usesTLS = usesTLS
    }

    /// Parses an address.
    ///
    /// - Parameters:
    ///   - text: the address. The default scheme is `mqtts`.
    ///   - allowsPlain: whether unencrypted connections to other machines are allowed.
    /// - Throws: ``ConfigurationError`` that says what to fix.
    package init(_ text: String, allowsPlain: Bool) throws(ConfigurationError) {
        var rest = text[...]
        var usesTLS = true
        if let end = text.firstRange(of: "://") {
            switch text[..<end.lowerBound].lowercased() {
            case "mqtts", "ssl", "tls": usesTLS = true
            case "mqtt", "tcp": usesTLS = false
            default: throw ConfigurationError("The broker's address must begin with mqtts:// or mqtt://, not \(text).")
            }
            rest = text[end.upperBound...]
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains("@") else {
            throw ConfigurationError("Don't put the user and password into the broker's address. Use [login].")
        }
        guard !rest.contains("/") else {
            throw ConfigurationError("The broker's address must be mqtts://HOST:PORT without a path, not \(text).")
        }
        guard rest.hasPrefix("[") ? rest.contains("]") : rest.count(where: { $0 == ":" }) < 2 else {
            throw ConfigurationError("Put an IPv6 address in brackets, as in mqtts://[::1]:8883, not \(text).")
        }
        var port = usesTLS ? 8883 : 1883
        var host = rest
        if rest.hasPrefix("["), let bracket = rest.firstIndex(of: "]") {
            host = rest[rest.index(after: rest.startIndex)..<bracket]
            rest = rest[rest.index(after: bracket)...]
        } else if let colon = rest.firstIndex(of: ":") {
            host = rest[..<colon]
            rest = rest[colon...]
        } else {
            rest = ""
        }
        if rest.hasPrefix(":") {
            guard let number = Int(rest.dropFirst()), (1...65535).contains(number) else {
                throw ConfigurationError("The broker's port in \(text) is invalid. It must be 1 to 65535.")
            }
            port = number
        } else if !rest.isEmpty {
            throw ConfigurationError("The broker's address must be mqtts://HOST:PORT, not \(text).")
        }
        let isAllowed = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }
        guard !host.isEmpty, host.utf8.count <= 253, isAllowed else {
            throw ConfigurationError("The broker's address must be mqtts://HOST:PORT, not \(text).")
        }
        guard usesTLS || allowsPlain || Self.isLoopback(String(host)) else {
            throw ConfigurationError(
                "mqtt:// is not encrypted. Use mqtts://\(host), or allow_plain if the network is trusted."
            )
        }
        self.init(host: String(host), port: port, usesTLS: usesTLS)
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.split(separator: ".").count == 4
                && host.split(separator: ".").allSatisfy { UInt8($0) != nil }
    }

    package var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(usesTLS ? "mqtts" : "mqtt")://\(name):\(port)"
    }
}
