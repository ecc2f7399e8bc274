// SPDX-License-Identifier: Apache-2.0

/// A link for the system's handler of its scheme, in the form in which it is shown and passed on.
public struct SystemLink: Sendable, Hashable {
    /// The purpose of the link.
    public let scheme: LinkScheme
    /// The URI that is passed on. A mail link only has the addresses, subject, body, cc and bcc. A map link only has
    /// the coordinates and the search text.
    public let uri: String
    /// The target of the link in ASCII, which may be empty: an address, coordinates, or a number with its escapes
    /// decoded and with single spaces.
    public let target: String

    /// Creates a system link.
    ///
    /// - Returns: nil for any other link, and for a link without a target: an empty `tel:` or `mailto:`, or a `geo:`
    ///   without coordinates.
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
            // A call needs a number; the others also accept addresses. The digits of an escape don't count.
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

    /// Returns the part between the scheme and the query, without slashes at its start.
    static func path(_ uri: TagURI) -> String {
        String(uri.stem.dropFirst(uri.scheme.count + 1).drop { $0 == "/" })
    }

    /// Decodes the escapes of visible ASCII characters and of spaces, so that a number looks like one. Other escapes
    /// are kept; they are never part of a number.
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
