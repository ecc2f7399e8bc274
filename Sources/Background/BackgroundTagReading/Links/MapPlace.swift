// SPDX-License-Identifier: Apache-2.0

/// A place on a map, read from a `geo:` URI or a link to maps.apple.com, as a `geo:` URI for maps apps (RFC 5870).
public struct MapPlace: Sendable, Hashable {
    /// The `geo:` URI. For a place without coordinates it is `geo:0,0` with the search text, which maps apps
    /// understand.
    public let uri: String
    /// The latitude and the longitude in degrees, separated by a comma; empty when only the place's name is known.
    public let point: String

    /// Reads a map link.
    ///
    /// - Returns: nil when it contains no place.
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
            else {
                return nil
            }
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

    /// Returns the items of the query. Of repeated names the first one is used.
    private static func items(_ link: String) -> [Substring: Substring] {
        var items: [Substring: Substring] = [:]
        let query = link.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
        for item in query.split(separator: "&").prefix(32) {
            let parts = item.split(separator: "=", maxSplits: 1)
            if parts.count == 2, items[parts[0]] == nil { items[parts[0]] = parts[1] }
        }
        return items
    }

    /// Reads a latitude and a longitude in degrees, separated by a comma, which may be escaped.
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
