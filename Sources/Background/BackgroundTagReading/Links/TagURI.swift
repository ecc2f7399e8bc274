// SPDX-License-Identifier: Apache-2.0
public import NDEF
import UniversalLinks

/// The URI of a tag, in the one form that is shown, matched and handed on: ASCII alone, so that what a person reads is
/// what is opened.
public struct TagURI: Sendable, Hashable {
    /// The scheme in lower case.
    public let scheme: String
    /// The URI: what is outside of ASCII, and what no URI may have, is percent-encoded, and the host is in ASCII.
    public let text: String
    /// The host of an http or https URI with its port, such as `xn--bcher-kva.example:8443`; nil for other schemes.
    public let host: String?
    /// The URI without its query and fragment.
    public let stem: String

    /// Takes a URI as a tag has it.
    ///
    /// - Parameter written: the URI.
    /// - Returns: nil when it has no scheme, is longer than ``UniversalLinks/LinkURL/maximumLength``, or is an http or
    ///   https URI whose host programs could take for different ones.
    public init?(_ written: String) {
        guard written.utf8.count <= LinkURL.maximumLength, !written.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            let colon = written.utf8.firstIndex(of: 0x3A)
        else {
            return nil
        }
        let scheme = written[..<colon].lowercased()
        guard Self.isScheme(scheme) else { return nil }
        var rest = written[written.utf8.index(after: colon)...]
        var authority = ""
        if scheme == "http" || scheme == "https" {
            guard rest.utf8.starts(with: "//".utf8) else { return nil }
            rest = rest.dropFirst(2)
            let end = rest.unicodeScalars.firstIndex { "/?#\\".unicodeScalars.contains($0) } ?? rest.endIndex
            guard end == rest.endIndex || rest.unicodeScalars[end] != "\\",
                let parts = Self.authority(rest[..<end], defaultPort: scheme == "http" ? "80" : "443")
            else {
                return nil
            }
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
        return text.utf8.allSatisfy { octet in
            switch octet {
            case 0x61...0x7A, 0x30...0x39, 0x2B, 0x2D, 0x2E: true
            default: false
            }
        }
    }

    /// Splits what stands between the slashes. The user's part is kept, and never shown.
    private static func authority(_ text: Substring, defaultPort: String) -> (user: String, host: String)? {
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
            guard digits.isEmpty || digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) && UInt16(digits) != nil
            else {
                return nil
            }
            if !digits.isEmpty, digits != defaultPort { port = ":\(digits)" }
            name = name[..<colon]
        }
        if name.utf8.first == 0x5B, name.utf8.last == 0x5D {
            let isAddress = name.dropFirst().dropLast().allSatisfy { $0.isASCII && $0.isHexDigit || $0 == ":" }
            return isAddress && name.utf8.count > 4 ? (user, name.lowercased() + port) : nil
        }
        guard let host = HostName.ascii(String(name)) else { return nil }
        return (user, host + port)
    }

    /// Percent-encodes what no URI may have (RFC 3986, 2). Percent signs stay as they are.
    private static func encoded(_ text: Substring) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        let digits = Array("0123456789ABCDEF".utf8)
        for octet in text.utf8 {
            switch octet {
            case 0x00...0x20, 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D, 0x7F...0xFF:
                result.append(contentsOf: [0x25, digits[Int(octet >> 4)], digits[Int(octet & 0x0F)]])
            default: result.append(octet)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// What a message has for the background: its first well-known URI record, wherever that stands.
///
/// Smart posters, absolute URIs and other records are not looked into.
public enum LinkChoice: Sendable, Hashable {
    /// The message has no URI record.
    case none
    /// The first URI record can't be read.
    case unusable
    /// The URI of the first URI record.
    case uri(TagURI)

    /// Looks for the link of a message.
    public init(_ message: NDEFMessage) {
        guard let record = message.records.first(where: { $0.kind == .uri }) else {
            self = .none
            return
        }
        // A reserved code comes of a payload without one: "https" then begins with the code 68 and goes on with "ttps".
        guard let content = try? URIRecord(record), !content.hasReservedPrefix, let uri = TagURI(content.uri) else {
            self = .unusable
            return
        }
        // One of the system's schemes that names nobody opens nothing.
        guard LinkScheme(uri) == nil || SystemLink(uri) != nil else {
            self = .unusable
            return
        }
        self = .uri(uri)
    }
}
