// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Home Assistant's IDs for tags.
package enum HomeAssistantTag {
    /// The longest ID accepted from a link, in characters.
    package static let maximumLength = 128

    /// What Home Assistant understands as the absence of a tag, in lower case.
    private static let states: Set = ["none", "unknown", "unavailable"]

    /// Returns the ID in a link written by Home Assistant's app: `https://www.home-assistant.io/tag/ID`. Nil for other
    /// links, for an ID that looks like a UID or its hash, because anyone can write a link that imitates a tag, and for
    /// an ID such as `None`, which Home Assistant understands as no tag.
    package static func id(in link: String) -> String? {
        for prefix in ["https://www.home-assistant.io/tag/", "https://home-assistant.io/tag/"]
        where link.hasPrefix(prefix) {
            let id = link.dropFirst(prefix.count).prefix { $0 != "?" && $0 != "#" && $0 != "/" }
            let isPlain = id.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x25: true
                default: false
                }
            }
            let isState = states.contains((id.removingPercentEncoding ?? "").lowercased())
            let isOwn =
                !id.isEmpty && id.utf8.count <= maximumLength && isPlain && !isState && !isLikeUID(String(id))
            return isOwn ? String(id) : nil
        }
        return nil
    }

    /// Whether an ID consists of the hexadecimal digits of a UID or hash, with or without separators. Home Assistant
    /// generates UUIDs as IDs.
    private static func isLikeUID(_ id: String) -> Bool {
        let groups = (id.removingPercentEncoding ?? id).split(omittingEmptySubsequences: false) { !$0.isHexDigit }
        if groups.count > 1 { return groups.allSatisfy { $0.utf8.count == 2 } }
        return Hex.bytes(id).map { (4...10).contains($0.count) || [16, 32].contains($0.count) } ?? false
    }

    /// Returns the ID of a tag without such a link: its UID as in `04-68-95-71-FA-5C-64`.
    package static func id(of identifier: [UInt8]) -> String {
        identifier.map { Hex.text([$0]).uppercased() }.joined(separator: "-")
    }
}
