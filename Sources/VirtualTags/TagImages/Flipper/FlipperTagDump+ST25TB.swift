// SPDX-License-Identifier: Apache-2.0

/// Files of ST25TB tags, formerly SRIX4K and SRT512.
extension FlipperTagDump {
    /// The products and their numbers of blocks, by the type in the file (the firmware's `st25tb.c`).
    private static let products: [String: (name: String, blocks: Int)] = [
        "512AT": ("ST25TB512-AT", 16), "512AC": ("ST25TB512-AC", 16), "2K": ("ST25TB02K", 64), "4K": ("ST25TB04K", 128),
    ]

    /// Returns the error for such a file: its content, and why it can't be a virtual tag.
    static func refusal(ofST25TB fields: FlipperFields) -> TagImageError {
        var product = "ST25TB"
        var parts: [String] = []
        if let uid = try? fields.bytes("UID", count: 8) { parts.append("the UID \(uid.spacedHexadecimalText)") }
        let blocks = (0..<128).count { (try? fields.bytes("Block \($0)", count: 4)) != nil }
        if let known = (try? fields.text("ST25TB Type")).flatMap({ products[$0] }) {
            product = known.name
            if blocks > 0 { parts.append("\(blocks) of \(known.blocks) blocks") }
        } else if blocks > 0 {
            parts.append(blocks == 1 ? "1 block" : "\(blocks) blocks")
        }
        if fields.line("System OTP Block") != nil { parts.append("the system block") }
        let what = parts.isEmpty ? "" : " The file has \(parts.joined(separator: ", "))."
        return TagImageError(
            .unsupported,
            "An \(product) is found by commands of its own, and not by those of ISO/IEC 14443-3. Core NFC has no kind of tag "
                + "for it, so no phone sees it, and there is no virtual tag of it.\(what)",
            line: fields.line("Device type")
        )
    }
}
