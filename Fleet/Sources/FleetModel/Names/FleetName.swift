// SPDX-License-Identifier: Apache-2.0

/// The name of a node or of a reader, which is a level of topics.
package struct FleetName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name of the agent's own level. No reader may have it.
    package static let bridge = FleetName(valid: "bridge")
    /// The longest name, in characters.
    package static let maximumLength = 64

    /// The name.
    package let text: String
    package var description: String { text }

    /// Takes a name.
    ///
    /// - Parameter text: 1 to 64 letters of ASCII, digits, `-` and `_`.
    /// - Returns: nil when it has other characters, such as `/`, `+` and `#`, which mean something in topics.
    package init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            return nil
        }
        self.text = text
    }

    private init(valid text: String) { self.text = text }

    /// Makes a name from any text, such as the name of a USB reader: `ACS ACR122U 00 00` becomes `acs-acr122u-00-00`.
    package init(slugOf text: String) {
        var slug: [UInt8] = []
        for byte in text.lowercased().utf8 {
            let isKept = Self.isAllowed(byte) && byte != 0x2D
            if isKept { slug.append(byte) } else if slug.last != 0x2D, !slug.isEmpty { slug.append(0x2D) }
        }
        slug = Array(slug.prefix(Self.maximumLength))
        while slug.last == 0x2D { slug.removeLast() }
        let name = String(decoding: slug, as: UTF8.self)
        self.text = name.isEmpty || name == Self.bridge.text ? "reader" : name
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    package static func < (left: FleetName, right: FleetName) -> Bool { left.text < right.text }
}
