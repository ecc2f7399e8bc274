// SPDX-License-Identifier: Apache-2.0

/// A link for what the system has for its scheme, as it is shown and handed on.
public struct SystemLink: Sendable, Hashable {
    /// What it is for.
    public let scheme: LinkScheme
    /// The URI that is handed on. Of a mail it has the addresses, subject, body, cc and bcc alone; of a place its
    /// coordinates and what is looked for there.
    public let uri: String
    /// Whom or where it is for, in ASCII: a number with its escapes resolved and single spaces, an address, coordinates. It
    /// can be empty.
    public let target: String

    /// Takes a link.
    ///
    /// - Returns: nil when it is none of these, or names nobody and nothing: an empty `tel:` or `mailto:`, a `geo:` without
    ///   coordinates.
    public init?(_ uri: TagURI) {
        guard let scheme = LinkScheme(uri) else { return nil }
        self.scheme = scheme
        switch scheme {
        case .mail:
            guard let mail = MailLink(uri.text) else { return nil }
            self.uri = mail.uri
            target = mail.addresses
        case .call, .textMessage, .faceTime, .faceTimeAudio:
            target = Self.decoded(Self.path(uri)).split(separator: " ").joined(separator: " ")
            // A call needs a number; the others take addresses too. The digits of an escape are none.
            let parts = target.split(separator: "%", omittingEmptySubsequences: false)
            let visible = (parts.first.map(String.init) ?? "") + parts.dropFirst().map { $0.dropFirst(2) }.joined()
            let isUsable = visible.contains { $0.isNumber || scheme != .call && $0.isLetter }
            guard isUsable else { return nil }
            self.uri = uri.text
        case .map where uri.host == nil:
            guard let place = MapPlace(uri.text) else { return nil }
            self.uri = place.uri
            target = place.point
        case .map, .homeKit:
            self.uri = uri.text
            target = Self.path(uri)
        }
    }

    /// What stands between the scheme and the query, without slashes before it.
    static func path(_ uri: TagURI) -> String {
        String(uri.stem.dropFirst(uri.scheme.count + 1).drop { $0 == "/" })
    }

    /// Resolves the escapes of visible ASCII and of spaces, so that a number looks like one. Others stay: they are none of a
    /// number's.
    static func decoded(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let digits = bytes[index...].prefix(3)
            if digits.first == 0x25, digits.count == 3,
                let value = UInt8(String(decoding: digits.dropFirst(), as: UTF8.self), radix: 16),
                (0x20...0x7E).contains(value)
            {
                result.append(value)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
