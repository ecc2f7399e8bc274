// SPDX-License-Identifier: Apache-2.0

/// A request of ISO/IEC 15693-3, 7.3, parsed as far as all commands have the same format.
struct Type5Request: Sendable {
    var flags: UInt8
    var command: UInt8
    /// The UID that the request is for, least significant byte first; nil when it has none.
    var address: [UInt8]?
    /// The manufacturer code of a custom command.
    var manufacturer: UInt8?
    var parameters: [UInt8]

    var isInventory: Bool { flags & 0x04 != 0 }
    /// In an inventory, this flag means that a family is given. Otherwise it means that the request is for the selected
    /// tag.
    var isForSelected: Bool { !isInventory && flags & 0x10 != 0 }
    var namesFamily: Bool { isInventory && flags & 0x10 != 0 }
    var hasOneSlot: Bool { isInventory && flags & 0x20 != 0 }
    var option: Bool { flags & 0x40 != 0 }
    /// Whether the request is for a single tag, by its UID or because it is selected.
    var isDirected: Bool { address != nil || isForSelected }

    /// Parses a request; nil when it is too short, or of a later version of the protocol.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2, bytes[0] & 0x08 == 0 else { return nil }
        flags = bytes[0]
        command = bytes[1]
        var rest = bytes.dropFirst(2)
        if (0xA0...0xDF).contains(command) {
            guard let code = rest.popFirst() else { return nil }
            manufacturer = code
        }
        if flags & 0x24 == 0x20 {
            guard rest.count >= 8 else { return nil }
            address = Array(rest.prefix(8))
            rest = rest.dropFirst(8)
        }
        parameters = Array(rest)
    }
}
