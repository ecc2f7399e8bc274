// SPDX-License-Identifier: Apache-2.0

/// A URI, or IRI. NFC Forum URI RTD 1.0.
public struct URIRecord: PayloadRecord {
    static let kind = RecordKind.uri

    /// The complete URI.
    public let uri: String
    /// The code that abbreviates the URI's prefix. A reserved code stands for an empty prefix.
    public let prefixCode: UInt8

    /// Creates a record, abbreviated with the longest prefix that matches.
    ///
    /// - Parameter uri: the URI.
    public init(_ uri: String) {
        self.uri = uri
        prefixCode = URIPrefix.longestCode(for: uri)
    }

    init(_ payload: PayloadReader) throws(NDEFError) {
        var payload = payload
        guard let code = payload.nextByte() else { throw NDEFError(.emptyPayload) }
        // A reserved code is read as 0, as the specification requires.
        let rest = try payload.string()
        try Self.check(rest)
        prefixCode = code
        uri = URIPrefix.text(for: code) + rest
    }

    /// Checks that a URI has no control characters.
    static func check(_ uri: String) throws(NDEFError) {
        guard !uri.utf8.contains(where: { $0 < 0x20 }) else { throw NDEFError(.controlCharacter) }
    }

    /// Whether the record has a reserved prefix code.
    public var hasReservedPrefix: Bool { Int(prefixCode) >= URIPrefix.all.count }

    public func makeRecord(identifier: [UInt8]) throws(NDEFError) -> NDEFRecord {
        try Self.check(uri)
        let rest = uri.utf8.dropFirst(URIPrefix.text(for: prefixCode).utf8.count)
        return .wellKnown("U", identifier: identifier, payload: [prefixCode] + rest)
    }
}

/// The prefixes that URI records abbreviate. NFC Forum URI RTD 1.0, 3.2.2.
public enum URIPrefix {
    /// The prefixes, indexed by code, 0 to 35. Higher codes are reserved and read as 0.
    public static let all: [String] = [
        "", "http://www.", "https://www.", "http://", "https://", "tel:", "mailto:", "ftp://anonymous:anonymous@",
        "ftp://ftp.", "ftps://", "sftp://", "smb://", "nfs://", "ftp://", "dav://", "news:", "telnet://", "imap:",
        "rtsp://", "urn:", "pop:", "sip:", "sips:", "tftp:", "btspp://", "btl2cap://", "btgoep://", "tcpobex://",
        "irdaobex://", "file://", "urn:epc:id:", "urn:epc:tag:", "urn:epc:pat:", "urn:epc:raw:", "urn:epc:",
        "urn:nfc:",
    ]

    /// Returns the prefix for a code.
    ///
    /// - Parameter code: the first byte of a URI record's payload.
    /// - Returns: the prefix; empty for a reserved code.
    public static func text(for code: UInt8) -> String {
        Int(code) < all.count ? all[Int(code)] : ""
    }

    /// Returns the code of the longest prefix that matches a URI. Case matters.
    ///
    /// - Parameter uri: a URI.
    /// - Returns: the code; 0 when no prefix matches.
    public static func longestCode(for uri: String) -> UInt8 {
        let fitting = all.indices.filter { uri.utf8.starts(with: all[$0].utf8) }
        return UInt8(fitting.max { all[$0].utf8.count < all[$1].utf8.count } ?? 0)
    }
}
