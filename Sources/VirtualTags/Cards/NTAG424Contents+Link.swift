// SPDX-License-Identifier: Apache-2.0
import NDEF

extension NTAG424Contents {
    /// Writes a link that changes at every read, and sets up the NDEF file for it.
    ///
    /// Names in braces are places for what the tag puts in: `{picc}` the enciphered UID and counter, or `{uid}` and
    /// `{counter}` as they are, and `{cmac}` the code that proves them.
    ///
    /// ```swift
    /// var contents = NTAG424Contents()
    /// contents.setLink("https://example.com/t?e={picc}&c={cmac}")
    /// ```
    ///
    /// - Parameters:
    ///   - link: the link, with names in braces.
    ///   - metaReadKey: the number of the key for `{picc}`.
    ///   - fileReadKey: the number of the key for `{cmac}`.
    /// - Returns: false when the link is too long for the file, or names something else, or the same twice, or mixes
    ///   `{picc}` with `{uid}` and `{counter}`; then nothing has changed.
    @discardableResult
    public mutating func setLink(_ link: String, metaReadKey: UInt8 = 2, fileReadKey: UInt8 = 1) -> Bool {
        var places: [String: Int] = [:]
        var text = ""
        for (index, part) in link.split(separator: "{", omittingEmptySubsequences: false).enumerated() {
            guard index > 0 else {
                text += part
                continue
            }
            guard let end = part.firstIndex(of: "}") else { return false }
            let name = String(part[..<end])
            guard let length = Self.placeLengths[name], places[name] == nil else { return false }
            places[name] = text.utf8.count
            text += String(repeating: "0", count: length) + part[part.index(after: end)...]
        }
        guard let record = try? URIRecord(text).makeRecord(identifier: []),
            let message = try? NDEFMessage([record]).encoded(), message.count <= ndefFile.count - 2
        else { return false }
        // The text ends where the message does, less the prefix that a code stands for.
        let start = 2 + message.count - text.utf8.count
        func offset(_ name: String) -> Int? { places[name].map { $0 + start } }

        var messaging = SecureDynamicMessaging(piccDataOffset: 0, codeOffset: 0)
        messaging.piccDataOffset = offset("picc")
        messaging.uidOffset = offset("uid")
        messaging.counterOffset = offset("counter")
        messaging.codeOffset = offset("cmac")
        messaging.codeInputOffset = messaging.codeOffset
        let isPlain = messaging.uidOffset != nil || messaging.counterOffset != nil
        guard !(isPlain && messaging.piccDataOffset != nil), !places.isEmpty else { return false }
        messaging.metaReadKey = isPlain ? 0x0E : messaging.piccDataOffset == nil ? 0x0F : metaReadKey
        messaging.fileReadKey = messaging.codeOffset == nil ? 0x0F : fileReadKey
        if isPlain {
            messaging.options =
                0x01 | (messaging.uidOffset == nil ? 0 : 0x80) | (messaging.counterOffset == nil ? 0 : 0x40)
        }
        guard messaging.fits(ndefFile.count) else { return false }
        ndefFile =
            [UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
            + [UInt8](repeating: 0, count: ndefFile.count - 2 - message.count)
        files[1].dynamicMessaging = messaging
        readCounter = 0
        return true
    }

    /// How many digits each name stands for.
    private static let placeLengths = ["picc": 32, "uid": 14, "counter": 6, "cmac": 16]
}
