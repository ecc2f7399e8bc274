// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import VirtualTags

/// Virtual tags as tests need them.
enum TestTag {
    /// A message of one URI record.
    static func message(uri: String) -> NFCNDEFMessage {
        NFCNDEFMessage(records: [NFCNDEFPayload.wellKnownTypeURIPayload(string: uri)].compactMap(\.self))
    }

    /// An NTAG213 with its factory lock control TLV and a URI record.
    static func ntag213(uri: String, serial: UInt8 = 0) -> VirtualType2Tag {
        ntag213(message: [0xD1, 1, UInt8(uri.utf8.count + 1), 0x55, 0] + Array(uri.utf8), serial: serial)
    }

    /// An NTAG213 with its factory lock control TLV and a message of fewer than 255 bytes.
    static func ntag213(message: [UInt8], serial: UInt8 = 0) -> VirtualType2Tag {
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, serial])
        let messageTLV = [3, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(21..<21 + messageTLV.count, with: messageTLV)
        return VirtualType2Tag(contents)
    }

    /// An NTAG213 without a capability container.
    static func unformattedNTAG213() -> VirtualType2Tag {
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0])
        contents.memory.replaceSubrange(12..<16, with: [0, 0, 0, 0])
        return VirtualType2Tag(contents)
    }
}
