// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import VirtualTags

/// Virtual tags as tests need them.
enum TestTag {
    static func message(uri: String) -> NFCNDEFMessage {
        NFCNDEFMessage(records: [NFCNDEFPayload.wellKnownTypeURIPayload(string: uri)].compactMap(\.self))
    }
    static func ntag213(uri: String, serial: UInt8 = 0) -> Type2Silicon {
        ntag213(message: [0xD1, 1, UInt8(uri.utf8.count + 1), 0x55, 0] + Array(uri.utf8), serial: serial)
    }
    static func ntag213(message: [UInt8], serial: UInt8 = 0) -> Type2Silicon {
        var m: [UInt8] =
            [
                0x04, serial, 0x22, 0x88 ^ 0x04 ^ serial ^ 0x22, 1, 2, 3, 4, 4, 0x48, 0, 0, 0xE1, 0x10, 0x12, 0, 1, 3,
                0xA0, 0x0C, 0x34, 3, UInt8(message.count),
            ] + message + [0xFE]
        m += [UInt8](repeating: 0, count: 180 - m.count)
        m.replaceSubrange(163..<180, with: [0xBD, 4, 0, 0, 0xFF, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        return Type2Silicon(memory: m, version: [0, 4, 4, 2, 1, 0, 0x0F, 3])
    }
    static func unformattedNTAG213() -> Type2Silicon {
        let m: [UInt8] = [0x04, 0, 0x22, 0x88 ^ 0x04 ^ 0x22, 1, 2, 3, 4, 4, 0x48, 0, 0]
        return Type2Silicon(
            memory: m + [UInt8](repeating: 0, count: 180 - m.count),
            version: [0, 4, 4, 2, 1, 0, 0x0F, 3]
        )
    }
}
