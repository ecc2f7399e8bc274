// SPDX-License-Identifier: Apache-2.0

/// A link to write a mail (RFC 6068). Only the fields subject, body, cc and bcc are passed to the mail program. Some
/// programs accept dangerous ones, such as a field that attaches one of the user's files.
struct MailLink: Hashable {
    /// The addresses, separated by commas. Escapes are kept.
    let addresses: String
    /// The URI that is passed on.
    let uri: String

    private static let kept: Set<String> = ["subject", "body", "cc", "bcc"]

    /// Reads a `mailto:` URI.
    ///
    /// - Returns: nil when it has no address, or its addresses contain line breaks.
    init?(_ text: String) {
        let rest = text.dropFirst("mailto:".count).prefix { $0 != "#" }
        var path = String(rest.prefix { $0 != "?" })
        while path.hasPrefix("/") { path.removeFirst() }
        var fields: [String] = []
        for field in rest.drop(while: { $0 != "?" }).dropFirst().split(separator: "&").prefix(32) {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[1].isEmpty else { continue }
            let name = parts[0].lowercased()
            // The `to` field is another way to write the addresses. As such, a question mark in it would begin other fields.
            if name == "to", path.isEmpty { path = parts[1].replacing("?", with: "%3F") }
            guard Self.kept.contains(name), name == "body" || !Self.hasControl(parts[1]) else { continue }
            fields.append("\(name)=\(parts[1])")
        }
        guard !Self.hasControl(path) else { return nil }
        // A mail may have only cc and bcc addresses.
        let copies = fields.filter { $0.hasPrefix("cc=") || $0.hasPrefix("bcc=") }
            .map { String($0.drop { $0 != "=" }.dropFirst()) }
        let all = path.isEmpty ? copies.joined(separator: ",") : path
        guard SystemLink.decoded(all).contains(where: { $0.isLetter || $0.isNumber }) else { return nil }
        addresses = all
        uri = "mailto:" + path + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }

    /// Returns whether a text has an escaped control character, such as a line break that would start another field.
    private static func hasControl(_ text: String) -> Bool {
        let bytes = Array(text.lowercased().utf8)
        return bytes.indices.contains { index in
            bytes[index] == 0x25 && index + 1 < bytes.count
                && ([0x30, 0x31].contains(bytes[index + 1]) || bytes[index...].prefix(3).elementsEqual("%7f".utf8))
        }
    }
}
