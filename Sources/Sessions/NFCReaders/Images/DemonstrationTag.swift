// SPDX-License-Identifier: Apache-2.0
import VirtualTags

/// The tag in the virtual field of a process without a reader and without images.
enum DemonstrationTag {
    /// An NTAG215 with a link and a text.
    static func make() -> VirtualType2Tag {
        var contents = Type2Contents(blank: .ntag215, uid: [0x04, 0x68, 0x95, 0x71, 0xFA, 0x5C, 0x64])
        let link = Array("example.com/welcome".utf8)
        let text = Array("Welcome to the gallery.".utf8)
        var message: [UInt8] = [0x91, 0x01, UInt8(link.count + 1), 0x55, 0x04] + link
        message += [0x51, 0x01, UInt8(text.count + 3), 0x54, 0x02] + Array("en".utf8) + text
        let messageTLV = [0x03, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(16..<16 + messageTLV.count, with: messageTLV)
        return VirtualType2Tag(contents)
    }
}
