// SPDX-License-Identifier: Apache-2.0

/// An HTTP or HTTPS URL for universal links. It is split as in RFC 3986, and otherwise unchanged.
///
/// Bytes outside ASCII are percent-encoded, as on a phone that creates a URL from such a text.
public struct LinkURL: Sendable, Hashable {
    /// The reason why a text can't be a universal link, regardless of association files.
    public enum Problem: Error, Sendable, Hashable {
        case tooLong
        /// The URL contains a space or a control character.
        case forbiddenCharacter
        /// The scheme is missing, or is not http or https.
        case scheme
        case host
    }

    /// The maximum length of a URL in bytes.
    public static let maximumLength = 1 << 16

    /// The host name in lower case and ASCII, without user information and port.
    public let host: String
    /// Whether the path, the query or the fragment contains a percent sign.
    let hasEscapes: Bool
    let bytes: [UInt8]
    /// The range of the path, without trailing slashes.
    let path: Range<Int>
    /// The range of the query, without its question mark; empty without a query.
    let query: Range<Int>
    /// The range of the fragment, without its number sign; empty without a fragment.
    let fragment: Range<Int>

    /// Splits a URL.
    ///
    /// - Parameter text: the URL.
    /// - Throws: ``Problem``.
    public init(_ text: String) throws(Problem) {
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
        let written = Array(text.utf8)
        let bytes = try Self.ascii(written)
        guard let authority = Self.authorityStart(bytes) else { throw .scheme }
        let pathStart = bytes[authority...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? bytes.count
        let fragmentMark = bytes[pathStart...].firstIndex(of: 0x23) ?? bytes.count
        let queryMark = bytes[pathStart..<fragmentMark].firstIndex(of: 0x3F) ?? fragmentMark
        guard let host = Self.host(bytes[authority..<pathStart]) else { throw .host }
        self.host = bytes.count == written.count ? host : Self.asciiHost(written, authority) ?? host
        var pathEnd = queryMark
        while pathEnd > pathStart, bytes[pathEnd - 1] == 0x2F { pathEnd -= 1 }
        path = pathStart..<pathEnd
        query = min(queryMark + 1, fragmentMark)..<fragmentMark
        fragment = min(fragmentMark + 1, bytes.count)..<bytes.count
        hasEscapes = bytes[pathStart...].contains(0x25)
        self.bytes = bytes
    }

    /// The path as written, without trailing slashes.
    var pathText: String { String(decoding: bytes[path], as: UTF8.self) }

    /// Returns the bytes, with bytes outside ASCII percent-encoded.
    private static func ascii(_ bytes: [UInt8]) throws(Problem) -> [UInt8] {
        var isASCII = true
        for byte in bytes {
            guard byte > 0x20, byte != 0x7F else { throw .forbiddenCharacter }
            if byte >= 0x80 { isASCII = false }
        }
        return isASCII ? bytes : escaped(bytes) { $0 >= 0x80 }
    }

    package static func escaped(_ text: some Sequence<UInt8>, where isEscaped: (UInt8) -> Bool) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return text.flatMap { isEscaped($0) ? [0x25, digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] : [$0] }
    }

    /// Returns the offset after `http://` or `https://`, ignoring case.
    private static func authorityStart(_ bytes: [UInt8]) -> Int? {
        for scheme in ["http://", "https://"] where bytes.count >= scheme.utf8.count {
            let isScheme = zip(bytes, scheme.utf8).allSatisfy { byte, expected in
                byte == expected || byte | 0x20 == expected && (0x41...0x5A).contains(byte)
            }
            if isScheme { return scheme.utf8.count }
        }
        return nil
    }

    private static func host(_ authority: ArraySlice<UInt8>) -> String? {
        let start = authority.lastIndex(of: 0x40).map { $0 + 1 } ?? authority.startIndex
        var name = authority[start...]
        if name.first == 0x5B {
            guard let end = name.firstIndex(of: 0x5D) else { return nil }
            // Only a port may follow the address.
            guard [nil, 0x3A].contains(name[(end + 1)...].first) else { return nil }
            name = name[...end]
        } else if let colon = name.firstIndex(of: 0x3A) {
            name = name[..<colon]
        }
        guard !name.isEmpty else { return nil }
        return String(decoding: name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Returns the host, in ASCII, of a text that is not only ASCII.
    private static func asciiHost(_ written: [UInt8], _ authority: Int) -> String? {
        let end = written[authority...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? written.count
        return host(written[authority..<end]).flatMap { HostName.ascii($0) }
    }

    /// Returns part of a URL with the escapes of some bytes decoded. Invalid escapes are kept.
    package static func decoded(
        _ text: ArraySlice<UInt8>,
        where isWanted: (UInt8) -> Bool = { _ in true }
    ) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == 0x25, digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), isWanted(value)
            {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}

extension LinkURL.Problem: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .tooLong: "The URL is longer than \(LinkURL.maximumLength) bytes."
        case .forbiddenCharacter: "The URL has a space or a control character."
        case .scheme: "Only http and https URLs are universal links."
        case .host: "The URL has no host."
        }
    }
}
