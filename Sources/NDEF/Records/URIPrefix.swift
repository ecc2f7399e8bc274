// SPDX-License-Identifier: Apache-2.0

/// The abbreviations of URI records. NFC Forum URI RTD 1.0, 3.2.2.
public enum URIPrefix {
    /// The beginnings by their code, 0 to 35. The codes above are reserved and read as 0.
    public static let all: [String] = [
        "", "http://www.", "https://www.", "http://", "https://", "tel:", "mailto:", "ftp://anonymous:anonymous@",
        "ftp://ftp.", "ftps://", "sftp://", "smb://", "nfs://", "ftp://", "dav://", "news:", "telnet://", "imap:",
        "rtsp://", "urn:", "pop:", "sip:", "sips:", "tftp:", "btspp://", "btl2cap://", "btgoep://", "tcpobex://",
        "irdaobex://", "file://", "urn:epc:id:", "urn:epc:tag:", "urn:epc:pat:", "urn:epc:raw:", "urn:epc:",
        "urn:nfc:",
    ]

    /// The beginning for a code.
    ///
    /// - Parameter code: the first octet of a URI record's payload.
    /// - Returns: the beginning; empty for a reserved code.
    public static func text(for code: UInt8) -> String {
        Int(code) < all.count ? all[Int(code)] : ""
    }

    /// The code of the longest beginning of a URI, compared with case.
    ///
    /// - Parameter uri: a URI.
    /// - Returns: the code; 0 when no beginning fits.
    public static func longestCode(for uri: String) -> UInt8 {
        var best = 0
        for (code, prefix) in all.enumerated() where prefix.utf8.count > all[best].utf8.count {
            if uri.utf8.starts(with: prefix.utf8) { best = code }
        }
        return UInt8(best)
    }
}
