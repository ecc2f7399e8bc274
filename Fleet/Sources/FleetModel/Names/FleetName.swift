// SPDX-License-Identifier: Apache-2.0

/// The name of a node or reader, used as a topic level.
package struct FleetName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name of the agent's own topic level. Readers can't use it.
    package static let bridge = FleetName(valid: "bridge")
    /// The longest name, in characters.
    package static let maximumLength = 64

    package let text: String
    package var description: String { text }

    /// Creates a name from valid text.
    ///
    /// - Parameter text: 1 to 64 ASCII letters, digits, `-` and `_`.
    /// - Returns: nil if there are other characters, such as `/`, `+` and `#`, which have a meaning in topics.
    package init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            return nil
        }
        self.text = text
    }

    private init(valid text: String) { self.text = text }

    /// Creates a name from any text, such as a USB reader's name: `ACS ACR122U 00 00` becomes `acs-acr122u-00-00`.
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
