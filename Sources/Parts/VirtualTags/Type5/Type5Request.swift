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

/// The error codes of ISO/IEC 15693-3, 7.4.2.
enum Type5Error: UInt8, Error {
    /// The command is not supported.
    case notSupported = 0x01
    /// The command is not recognised, for example because its length is wrong.
    case notRecognised = 0x02
    /// The option is not supported.
    case optionNotSupported = 0x03
    /// An error without further information.
    case unknown = 0x0F
    /// The block does not exist.
    case notAvailable = 0x10
    /// The block is already locked.
    case alreadyLocked = 0x11
    /// The block is locked, and its content can't be changed.
    case locked = 0x12
    /// The block was not programmed.
    case notProgrammed = 0x13
    /// The block was not locked.
    case notLocked = 0x14
    /// Reading the block is not allowed. Only ST's products use this code.
    case readProtected = 0x15
}

/// The result of a command.
struct Type5Reply: Sendable {
    var data: [UInt8] = []
    /// The number of programmed blocks; 0 when the memory has not changed.
    var programmedBlocks = 0
    /// Whether the answer is sent at once even if the option flag is set, because the flag has another meaning for this
    /// command.
    var ignoresOption = false
    /// Whether the tag does not answer.
    var isSilent = false

    /// No answer.
    static let silence: Type5Reply = {
        var reply = Type5Reply()
        reply.isSilent = true
        return reply
    }()

    init(_ data: [UInt8] = [], programmedBlocks: Int = 0) {
        self.data = data
        self.programmedBlocks = programmedBlocks
    }
}
