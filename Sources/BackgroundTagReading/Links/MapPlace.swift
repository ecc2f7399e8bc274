// SPDX-License-Identifier: Apache-2.0

/// A place on a map, as links of maps.apple.com have it, as a `geo:` URI that the apps for maps take (RFC 5870).
public struct MapPlace: Sendable, Hashable {
    /// The `geo:` URI. Without coordinates it has those of nowhere with what is to be looked for behind them, which apps
    /// for maps understand.
    public let uri: String

    /// Takes the link of a map.
    ///
    /// - Returns: nil when it names no place.
    public init?(_ link: String) {
        guard let mark = link.firstIndex(of: "?") else { return nil }
        var items: [Substring: Substring] = [:]
        for item in link[link.index(after: mark)...].prefix(while: { $0 != "#" }).split(separator: "&").prefix(32) {
            let parts = item.split(separator: "=", maxSplits: 1)
            if parts.count == 2, items[parts[0]] == nil { items[parts[0]] = parts[1] }
        }
        let name = ["q", "address", "daddr", "name"].lazy.compactMap { items[$0] }.first
        let search = name.map { "?q=\($0)" } ?? ""
        if let point = ["ll", "coordinate", "sll"].lazy.compactMap({ items[$0] }).first.flatMap(Self.point) {
            uri = "geo:\(point)\(search)"
        } else if !search.isEmpty {
            uri = "geo:0,0\(search)"
        } else {
            return nil
        }
    }

    /// A latitude and a longitude in degrees, with a comma between that may be encoded.
    private static func point(_ text: Substring) -> String? {
        let numbers = text.replacing("%2C", with: ",").replacing("%2c", with: ",")
            .split(separator: ",", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ $0.utf8.count <= 20 && $0.allSatisfy("-.0123456789".contains) }),
            let latitude = Double(numbers[0]), let longitude = Double(numbers[1]), abs(latitude) <= 90,
            abs(longitude) <= 180
        else {
            return nil
        }
        return "\(numbers[0]),\(numbers[1])"
    }
}
