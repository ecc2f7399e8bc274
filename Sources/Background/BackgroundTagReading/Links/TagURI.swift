// SPDX-License-Identifier: Apache-2.0
import UniversalLinks

/// The URI of a tag, in the only form in which it is shown, matched and passed on. It is ASCII only, so the user sees
/// exactly the link that opens.
public struct TagURI: Sendable, Hashable {
    /// The scheme in lower case.
    public let scheme: String
    /// The URI in ASCII. Characters that are not allowed in a URI are percent-encoded.
    public let text: String
    /// The host of an http or https URI with its port, such as `xn--bcher-kva.example:8443`; nil for other schemes.
    public let host: String?
    /// The URI without its query and fragment.
    public let stem: String

    /// Creates a URI from the text on a tag. Nil when the scheme is missing, the text is longer than
    /// `LinkURL.maximumLength`, or an http or https URI has a host that programs could interpret differently.
    public init?(_ written: String) {
        guard written.utf8.count <= LinkURL.maximumLength, !written.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            let colon = written.utf8.firstIndex(of: 0x3A)
        else { return nil }
        let scheme = written[..<colon].lowercased()
        guard Self.isScheme(scheme) else { return nil }
        var rest = written[written.utf8.index(after: colon)...]
        var authority = ""
        if scheme == "http" || scheme == "https" {
            guard rest.utf8.starts(with: "//".utf8) else { return nil }
            rest = rest.dropFirst(2)
            let end = rest.unicodeScalars.firstIndex { "/?#\\".unicodeScalars.contains($0) } ?? rest.endIndex
            guard end == rest.endIndex || rest.unicodeScalars[end] != "\\",
                let parts = Self.authority(rest[..<end], defaultPort: scheme == "http" ? 80 : 443)
            else { return nil }
            host = parts.host
            authority = "//" + parts.user + parts.host
            rest = rest[end...]
        } else {
            host = nil
        }
        let text = scheme + ":" + authority + Self.encoded(rest)
        guard text.utf8.count <= LinkURL.maximumLength else { return nil }
        self.scheme = scheme
        self.text = text
        stem = String(text.prefix { $0 != "?" && $0 != "#" })
    }

    private static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first), text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x61...0x7A, 0x30...0x39, 0x2B, 0x2D, 0x2E: true
            default: false
            }
        }
    }

    /// Splits the authority into user information and host. The user information is kept but never shown.
    private static func authority(_ text: Substring, defaultPort: UInt16) -> (user: String, host: String)? {
        var name = text
        var user = ""
        if let at = text.utf8.lastIndex(of: 0x40) {
            user = encoded(text[..<at]).replacing("@", with: "%40") + "@"
            name = text[text.utf8.index(after: at)...]
        }
        var port = ""
        let colonSearch = name.utf8.last == 0x5D ? nil : name.utf8.lastIndex(of: 0x3A)
        if let colon = colonSearch {
            let digits = name[name.utf8.index(after: colon)...]
            if !digits.isEmpty {
                guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits) else {
                    return nil
                }
                if number != defaultPort { port = ":\(number)" }
            }
            name = name[..<colon]
        }
        if name.utf8.first == 0x5B, name.utf8.last == 0x5D {
            let isAddress = name.dropFirst().dropLast().allSatisfy { $0.isASCII && $0.isHexDigit || $0 == ":" }
            return isAddress && name.utf8.count > 4 ? (user, name.lowercased() + port) : nil
        }
        guard let host = HostName.ascii(String(name)) else { return nil }
        return (user, host + port)
    }

    /// Percent-encodes characters that are not allowed in a URI (RFC 3986, 2). Percent signs are kept.
    private static func encoded(_ text: Substring) -> String {
        let result = LinkURL.escaped(text.utf8) { byte in
            switch byte {
            case 0x00...0x20, 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D, 0x7F...0xFF: true
            default: false
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
