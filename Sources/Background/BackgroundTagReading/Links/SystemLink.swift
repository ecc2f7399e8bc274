// SPDX-License-Identifier: Apache-2.0
import UniversalLinks

/// A link for the system's handler of a scheme, in the form in which the link is shown and passed on.
public struct SystemLink: Sendable, Hashable {
    /// The purpose of the link.
    public let scheme: LinkScheme
    /// The URI to pass on. A mail link only keeps the addresses, subject, body, cc and bcc. A map link only keeps the
    /// coordinates and the search text.
    public let uri: String
    /// The target of the link in ASCII: an address, coordinates, or a number with its escapes decoded and single
    /// spaces. May be empty.
    public let target: String

    /// Creates a system link; nil for any other link, and for a link without a target: an empty `tel:` or `mailto:`, or
    /// a `geo:` without coordinates.
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
            // A call needs a number. The others also accept addresses. The digits of an escape don't count.
            let parts = target.split(separator: "%", omittingEmptySubsequences: false)
            let visible = (parts.first.map(String.init) ?? "") + parts.dropFirst().map { $0.dropFirst(2) }.joined()
            let isUsable = visible.contains { $0.isNumber || scheme != .call && $0.isLetter }
            guard isUsable else { return nil }
            self.uri = uri.text
        case .map where uri.host == nil:
            guard let place = MapLocation(uri.text) else { return nil }
            self.uri = place.uri
            target = place.point
        case .map, .homeKit:
            self.uri = uri.text
            target = Self.path(uri)
        }
    }

    /// Returns the part between the scheme and the query, without leading slashes.
    static func path(_ uri: TagURI) -> String {
        String(uri.stem.dropFirst(uri.scheme.count + 1).drop { $0 == "/" })
    }

    /// Decodes the escapes of spaces and visible ASCII characters, so that a number is readable. Other escapes are
    /// kept, because they are never part of a number.
    static func decoded(_ text: String) -> String {
        let result = LinkURL.decoded(Array(text.utf8)[...]) { (0x20...0x7E).contains($0) }
        return String(decoding: result, as: UTF8.self)
    }
}

/// The purpose of a URI that is not a web link.
public enum LinkScheme: String, Sendable, Hashable, CaseIterable {
    case mail = "mailto"
    case textMessage = "sms"
    case call = "tel"
    case faceTime = "facetime"
    case faceTimeAudio = "facetime-audio"
    /// Show a location on a map: `geo:…` or `http://maps.apple.com/?…`. The raw value is the scheme of maps apps on the
    /// desktop.
    case map = "geo"
    /// Set up a HomeKit accessory with its code.
    case homeKit = "x-hm"

    /// Returns the purpose of a URI, by its scheme, or for maps by its host. Nil for web links and custom schemes.
    public init?(_ uri: TagURI) {
        if let host = uri.host {
            guard host == "maps.apple.com" else { return nil }
            self = .map
            return
        }
        guard let scheme = LinkScheme(rawValue: uri.scheme) else { return nil }
        self = scheme
    }

    /// Schemes that no app may claim: those of desktop programs, of the browser itself, and of local and remote files.
    private static let reserved: Set<String> = [
        "about", "admin", "afc", "afp", "applications", "archive", "blob", "burn", "cdda", "chrome", "computer", "data",
        "dav", "davs", "dns-sd", "file", "fish", "ftp", "ftps", "geo", "gphoto2", "help", "http", "https", "javascript",
        "jar", "localtest", "man", "mtp", "network", "news", "nfs", "resource", "recent", "rdp", "rlogin", "sftp",
        "smb",
        "ssh", "starred", "telnet", "tftp", "trash", "urn", "vbscript", "view-source", "vnc", "ws", "wss",
    ]

    static func isCustom(_ scheme: String) -> Bool {
        !scheme.isEmpty && !reserved.contains(scheme) && LinkScheme(rawValue: scheme) == nil
            && TagURI("\(scheme):x") != nil
    }
}

/// A link for writing a mail (RFC 6068). Only subject, body, cc and bcc are passed to the mail program, because some
/// programs accept dangerous fields, such as one that attaches the user's files.
struct MailLink: Hashable {
    /// The addresses, separated by commas. Escapes are kept.
    let addresses: String
    let uri: String

    private static let allowedFields: Set<String> = ["subject", "body", "cc", "bcc"]

    /// Reads a `mailto:` URI; nil when it has no address, or when its addresses contain line breaks.
    init?(_ text: String) {
        let rest = text.dropFirst("mailto:".count).prefix { $0 != "#" }
        var path = String(rest.prefix { $0 != "?" })
        while path.hasPrefix("/") { path.removeFirst() }
        var fields: [String] = []
        for field in rest.drop(while: { $0 != "?" }).dropFirst().split(separator: "&").prefix(32) {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[1].isEmpty else { continue }
            let name = parts[0].lowercased()
            // The `to` field also contains addresses. In the path, its question marks would start other fields.
            if name == "to", path.isEmpty { path = parts[1].replacing("?", with: "%3F") }
            guard Self.allowedFields.contains(name), name == "body" || !Self.hasControl(parts[1]) else { continue }
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

/// A location from a `geo:` URI or a link to maps.apple.com, as a `geo:` URI for maps apps (RFC 5870).
public struct MapLocation: Sendable, Hashable {
    /// The `geo:` URI. Without coordinates, it is `geo:0,0` with the search text, which maps apps understand.
    public let uri: String
    /// The latitude and longitude in degrees, separated by a comma; empty when only the name is known.
    public let point: String

    /// Reads a map link; nil when it does not contain a location.
    public init?(_ link: String) {
        let items = Self.items(link)
        if link.hasPrefix("geo:") {
            // The altitude and parameters such as the uncertainty are dropped. Only the default reference system is
            // accepted.
            let path = link.dropFirst(4).prefix { $0 != "?" && $0 != "#" }
            let parts = path.split(separator: ";", omittingEmptySubsequences: false)
            let numbers = (parts.first ?? "").split(separator: ",", omittingEmptySubsequences: false)
            let system = parts.dropFirst().map { $0.lowercased() }.first { $0.hasPrefix("crs=") }
            guard (2...3).contains(numbers.count), system ?? "crs=wgs84" == "crs=wgs84",
                let point = Self.point(Substring("\(numbers[0]),\(numbers[1])"))
            else { return nil }
            self.point = point
            uri = "geo:\(point)" + (items["q"].map { "?q=\($0)" } ?? "")
            return
        }
        let name = ["q", "address", "daddr", "name"].lazy.compactMap { items[$0] }.first
        let search = name.map { "?q=\($0)" } ?? ""
        if let point = ["ll", "coordinate", "sll"].lazy.compactMap({ items[$0] }).first.flatMap(Self.point) {
            self.point = point
            uri = "geo:\(point)\(search)"
        } else if !search.isEmpty {
            point = ""
            uri = "geo:0,0\(search)"
        } else {
            return nil
        }
    }

    /// Returns the items of the query. If a name occurs twice, its first value is used.
    private static func items(_ link: String) -> [Substring: Substring] {
        var items: [Substring: Substring] = [:]
        let query = link.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
        for item in query.split(separator: "&").prefix(32) {
            let parts = item.split(separator: "=", maxSplits: 1)
            if parts.count == 2, items[parts[0]] == nil { items[parts[0]] = parts[1] }
        }
        return items
    }

    /// Reads two numbers of degrees, separated by a comma that may be escaped.
    private static func point(_ text: Substring) -> String? {
        let numbers = text.replacing("%2C", with: ",").replacing("%2c", with: ",")
            .split(separator: ",", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ $0.utf8.count <= 20 && $0.allSatisfy("-.0123456789".contains) }),
            let latitude = Double(numbers[0]), let longitude = Double(numbers[1]), abs(latitude) <= 90,
            abs(longitude) <= 180
        else { return nil }
        return "\(numbers[0]),\(numbers[1])"
    }
}
