// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The state machine of a Type 5 tag: it receives a frame and returns the answer.
///
/// The states are those of ISO/IEC 15693-3, 7.2: READY, QUIET and SELECTED.
struct Type5Chip: TagChip {
    enum State: Sendable {
        case ready, quiet, selected
    }

    var contents: Type5Contents

    // Volatile state.
    var state = State.ready
    /// The tag's slot, the current slot, and the tag's answer, during an inventory with 16 slots.
    var slots: (own: Int, present: Int, answer: Frame)?
    /// The answer to a write with the option flag, which waits for an EOF.
    private var delayed: TagAnswer?
    var challenge: UInt16 = 0
    /// The identifiers of the right passwords that an ICODE received.
    var presentedPasswords: Set<UInt8> = []
    /// The password of the open security session on an ST product.
    var session: UInt8?
    /// Whether the tag received INITIATE, so that ST25TV answers INVENTORY INITIATED.
    var isInitiated = false
    /// Whether ST25TV incremented its counter since power-up.
    var hasCounted = false
    var harvestsEnergy = false
    var mailbox = ST25Mailbox()
    /// Whether a wrong password silenced the tag until it loses power.
    var isMute = false
    var tear: TornWrite?
    var random: SplitMix64

    init(_ contents: Type5Contents) {
        self.contents = contents
        random = SplitMix64(identifier: contents.uid)
        state = contents.protection.isPersistentlyQuiet ? .quiet : .ready
        let size = contents.product.dataBlockCount * contents.product.blockSize
        if contents.memory.count < size {
            self.contents.memory += Array(repeating: 0, count: size - contents.memory.count)
        }
    }

    var product: Type5Product { contents.product }
    /// The UID in transmission order.
    var address: [UInt8] { contents.uid.reversed() }

    mutating func losePower() {
        state = contents.protection.isPersistentlyQuiet ? .quiet : .ready
        slots = nil
        delayed = nil
        challenge = 0
        presentedPasswords = []
        session = nil
        isInitiated = false
        hasCounted = false
        harvestsEnergy = false
        if !contents.settings.isSupplied { mailbox = ST25Mailbox() }
        isMute = false
    }

    /// Whether the tag never answers again.
    private var isDead: Bool { contents.protection.isDestroyed || contents.settings.isKilled }

    /// Returns whether a hiding tag handles a request. A private ICODE only handles GET RANDOM NUMBER and SET PASSWORD
    /// (SL2S2602 data sheet, 9.5.3.9). An untraceable ST25TV here handles the corresponding commands and ignores
    /// inventories. This is a guess: ST's software and the available excerpts of DS12074 do not specify it.
    private func isHandled(_ request: Type5Request) -> Bool {
        if contents.protection.isPrivate {
            return request.command == 0xB2 || (request.command == 0xB3 && request.parameters.first == 0x04)
        }
        if contents.settings.isUntraceable { return request.command == 0xB4 || request.command == 0xB3 }
        return true
    }

    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        if frame.bytes.isEmpty { return receiveEndOfFrame() }
        slots = nil
        delayed = nil
        guard !isMute, !isDead, let bytes = frame.payload(checkedBy: .nfcV), let request = Type5Request(bytes),
            isHandled(request)
        else { return nil }
        if request.isInventory { return receiveInventory(request) }
        guard isAddressed(request) else { return nil }
        switch request.command {
        case 0x02:
            if request.address != nil { state = .quiet }
            return nil
        case 0x25:
            guard request.address != nil else { return nil }
            state = .selected
            return TagAnswer(Frame([0x00]))
        case 0x26:
            state = .ready
            contents.protection.isPersistentlyQuiet = false
            return TagAnswer(Frame([0x00]))
        default: return execute(request, injectedFault)
        }
    }

    /// Returns whether a request is for this tag (ISO/IEC 15693-3, 7.3.1). A SELECT of another tag ends this selection.
    private mutating func isAddressed(_ request: Type5Request) -> Bool {
        if let code = request.manufacturer, code != contents.uid[1] { return false }
        if let named = request.address {
            guard !request.isForSelected else { return false }
            if named == address { return true }
            if request.command == 0x25, state == .selected { state = .ready }
            return false
        }
        return request.isForSelected ? state == .selected : state != .quiet
    }

    /// Handles an EOF: starts the next slot of an inventory, or triggers the delayed answer to a write.
    private mutating func receiveEndOfFrame() -> TagAnswer? {
        if let answer = delayed {
            delayed = nil
            return answer
        }
        guard let (own, present, answer) = slots else { return nil }
        slots = present < 15 ? (own, present + 1, answer) : nil
        return own == present + 1 ? TagAnswer(answer) : nil
    }

    // MARK: Commands

    private mutating func execute(_ request: Type5Request, _ injectedFault: InjectedFault?) -> TagAnswer? {
        let before = self
        switch injectedFault {
        case .refusal(let code): return TagAnswer(Frame([0x01, code]))
        case .powerCut(let rest) where rest != .old: tear = rest
        case .powerCut, .writeRefusal, nil: break
        }
        let reply = Result { () throws(Type5Error) in try self.reply(to: request) }
        tear = nil
        switch reply {
        case .failure(let error): return isMute ? nil : TagAnswer(Frame([0x01, error.rawValue]))
        case .success(let reply) where reply.programmedBlocks > 0:
            if case .writeRefusal(let code) = injectedFault {
                self = before
                return TagAnswer(Frame([0x01, code]), isWrite: true)
            }
            // Undoes the whole write.
            if injectedFault == .powerCut(.old) { self = before }
            return acknowledge(reply, waitsForEnd: request.option && !reply.ignoresOption)
        case .success(let reply) where reply.isSilent: return nil
        case .success(let reply): return TagAnswer(Frame([0x00] + reply.data))
        }
    }

    /// Returns the answer to a write. It is sent after the programming time in steps of 4096 carrier periods, or after
    /// an EOF from the reader (ISO/IEC 15693-3, 9.3.2 and 10.4.2).
    private mutating func acknowledge(_ reply: Type5Reply, waitsForEnd: Bool) -> TagAnswer {
        let answer = Frame([0x00] + reply.data)
        if waitsForEnd {
            delayed = TagAnswer(answer)
            return TagAnswer(nil, isWrite: true)
        }
        let time = (product.programmingTime * reply.programmedBlocks).carrierPeriods
        return TagAnswer(answer, workTime: Airtime(carrierPeriods: (time + 4095) / 4096 * 4096), isWrite: true)
    }

    private mutating func reply(to request: Type5Request) throws(Type5Error) -> Type5Reply {
        if request.manufacturer != nil { return try custom(request) }
        let isExtended = (0x30...0x3C).contains(request.command)
        guard !isExtended || product.features.contains(.extended) else { throw .notSupported }
        var rest = request.parameters[...]
        let option = request.option
        switch request.command {
        case 0x20, 0x30:
            let block = try number(&rest, isExtended, last: true)
            return try readBlocks(block, count: 1, withSecurity: option)
        case 0x21, 0x31:
            let block = try number(&rest, isExtended)
            return try writeBlocks(block, count: 1, Array(rest))
        case 0x22, 0x32: return try lockBlock(try number(&rest, isExtended, last: true))
        case 0x23, 0x33:
            let block = try number(&rest, isExtended)
            return try readBlocks(block, count: try number(&rest, isExtended, last: true) + 1, withSecurity: option)
        case 0x24 where product.features.contains(.writeMultiple), 0x34:
            let block = try number(&rest, isExtended)
            return try writeBlocks(block, count: try number(&rest, isExtended) + 1, Array(rest))
        case 0x27, 0x29:
            guard rest.count == 1, let value = rest.first else { throw .notRecognised }
            return try writeIdentifier(value, isFamily: request.command == 0x27)
        case 0x28, 0x2A:
            guard rest.isEmpty else { throw .notRecognised }
            return try lockIdentifier(isFamily: request.command == 0x28)
        case 0x2B:
            guard rest.isEmpty else { throw .notRecognised }
            return systemInformation()
        case 0x2C, 0x3C:
            let block = try number(&rest, isExtended)
            return try blockSecurity(block, count: try number(&rest, isExtended, last: true) + 1)
        case 0x3B:
            guard rest.count == 1, let requested = rest.first else { throw .notRecognised }
            return extendedSystemInformation(requested)
        default: throw .notSupported
        }
    }

    /// Reads a one-byte number, or in an extended command a two-byte number, least significant byte first.
    private func number(
        _ rest: inout ArraySlice<UInt8>,
        _ isExtended: Bool,
        last: Bool = false
    ) throws(Type5Error) -> Int {
        guard let low = rest.popFirst() else { throw .notRecognised }
        var value = Int(low)
        if isExtended {
            guard let high = rest.popFirst() else { throw .notRecognised }
            value |= Int(high) << 8
        }
        guard !last || rest.isEmpty else { throw .notRecognised }
        return value
    }
}

extension Type5Chip {
    mutating func custom(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let features = product.features
        if features.contains(.surveillance), (0xA2...0xA7).contains(request.command) {
            return try surveillance(request)
        }
        if !features.isDisjoint(with: [.passwords, .signature]) { return try icode(request) }
        if features.contains(.configuration) { return try dynamicTag(request) }
        if features.contains(.tagConfiguration) { return try plainTag(request) }
        throw .notSupported
    }

    /// Throws if a command is not in `commands`, or has a different number of parameter bytes.
    func expect(_ request: Type5Request, _ commands: [UInt8: Int]) throws(Type5Error) {
        guard let count = commands[request.command] else { throw .notSupported }
        guard request.parameters.count == count else { throw .notRecognised }
    }

    static func word(_ bytes: some BidirectionalCollection<UInt8>) -> UInt32 {
        UInt32(bytes: bytes.reversed())
    }

    /// Removes the random number from a password by XORing it with each 16-bit half.
    func uncovered(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let mask = challenge.littleEndianBytes
        return zip(0..., bytes).map { $0.1 ^ mask[$0.0 & 1] }
    }

    mutating func nextChallenge() -> Type5Reply {
        challenge = UInt16(truncatingIfNeeded: random.next())
        return Type5Reply(challenge.littleEndianBytes)
    }
}

/// A request of ISO/IEC 15693-3, 7.3. Only the format that all commands share is parsed.
struct Type5Request: Sendable {
    var flags: UInt8
    var command: UInt8
    /// The UID in the request, least significant byte first; nil for none.
    var address: [UInt8]?
    var manufacturer: UInt8?
    var parameters: [UInt8]

    var isInventory: Bool { flags & 0x04 != 0 }
    /// Flag 10 means that a family is given in an inventory; in any other request, that the selected tag is meant.
    var isForSelected: Bool { !isInventory && flags & 0x10 != 0 }
    var namesFamily: Bool { isInventory && flags & 0x10 != 0 }
    var hasOneSlot: Bool { isInventory && flags & 0x20 != 0 }
    var option: Bool { flags & 0x40 != 0 }
    /// Whether the request is for a single tag, addressed by its UID or selected.
    var isDirected: Bool { address != nil || isForSelected }

    /// Parses a request; nil if it is too short or uses a later version of the protocol.
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

struct Type5Reply: Sendable {
    var data: [UInt8]
    /// The number of programmed blocks; 0 if the memory is unchanged.
    var programmedBlocks: Int
    /// Whether the answer is sent at once even with the option flag, which means something else in this command.
    var ignoresOption: Bool
    var isSilent: Bool

    static let silence = Type5Reply(isSilent: true)
    static let programmed = Type5Reply(programmedBlocks: 1)

    init(_ data: [UInt8] = [], programmedBlocks: Int = 0, ignoresOption: Bool = false, isSilent: Bool = false) {
        self.data = data
        self.programmedBlocks = programmedBlocks
        self.ignoresOption = ignoresOption
        self.isSilent = isSilent
    }
}

/// The error codes of ISO/IEC 15693-3, 7.4.2.
enum Type5Error: UInt8, Error {
    case notSupported = 0x01
    /// The command is not recognised, for example if its length is wrong.
    case notRecognised = 0x02
    case optionNotSupported = 0x03
    case unknown = 0x0F
    case notAvailable = 0x10
    case alreadyLocked = 0x11
    /// The block is locked, so its content can't be changed.
    case locked = 0x12
    case notProgrammed = 0x13
    case notLocked = 0x14
    /// Reading the block is not allowed. Only ST's products use this code.
    case readProtected = 0x15
}

/// INVENTORY (ISO/IEC 15693-3, 8), and manufacturers' variants of this command with other answers.
///
/// A real chip answers the fast commands at twice the data rate. In a virtual field, they take the usual airtime.
extension Type5Chip {
    private enum Kind {
        case identifier
        /// The answer contains blocks; with the option flag, preceded by the part of the UID outside the mask.
        case blocks
    }

    private func kind(of request: Type5Request) -> Kind? {
        let features = product.features
        if let code = request.manufacturer, code != contents.uid[1] { return nil }
        switch request.command {
        case 0x01: return .identifier
        case 0xA0 where features.contains(.passwords), 0xA1 where features.contains(.passwords): return .blocks
        // ST25TV: INVENTORY INITIATED and INVENTORY READ, and their fast versions.
        case 0xD1 where features.contains(.tagConfiguration), 0xC1 where features.contains(.tagConfiguration):
            return isInitiated ? .identifier : nil
        case 0xD3 where features.contains(.tagConfiguration), 0xD4 where features.contains(.tagConfiguration):
            return .blocks
        default: return nil
        }
    }

    /// Answers in the slot given by the UID's bits after the mask. On an error, the tag does not answer.
    mutating func receiveInventory(_ request: Type5Request) -> TagAnswer? {
        guard let kind = kind(of: request), state != .quiet else { return nil }
        var rest = request.parameters[...]
        if request.namesFamily {
            guard let family = rest.popFirst(), matches(family) else { return nil }
        }
        guard var length = rest.popFirst().map(Int.init) else { return nil }
        var options: Options?
        if case .blocks = kind, product.features.contains(.pages), length & 0x80 != 0 {
            length &= 0x7F
            guard let byte = rest.popFirst() else { return nil }
            options = Options(rawValue: byte)
        }
        let slotBits = request.hasOneSlot ? 0 : 4
        let maskSize = (length + 7) / 8
        guard length + slotBits <= 64, rest.count >= maskSize,
            address.startsWithBits(length, of: Array(rest.prefix(maskSize)))
        else { return nil }
        rest = rest.dropFirst(maskSize)
        let identified = options?.contains(.wholeIdentifier) == true ? 0 : (length + slotBits) / 8
        var data: [UInt8] = [0x00]
        switch kind {
        case .identifier:
            guard rest.isEmpty else { return nil }
            data += [contents.dsfid] + address
        case .blocks:
            if options?.contains(.surveillance) == true, !contents.isSurveillanceSet { return nil }
            if options != nil || request.option { data += address.dropFirst(identified) }
            if options?.contains(.noBlocks) == true {
                guard rest.isEmpty else { return nil }
            } else {
                guard rest.count == 2, let first = rest.popFirst(), let count = rest.popFirst(),
                    let blocks = try? readBlocks(Int(first), count: Int(count) + 1, withSecurity: false)
                else { return nil }
                data += blocks.data
            }
        }
        if options?.contains(.quiet) == true {
            state = .quiet
            contents.protection.isPersistentlyQuiet = options?.contains(.persistentlyQuiet) == true
        }
        return answer(Frame(data), inSlotAfter: length, hasOneSlot: request.hasOneSlot)
    }

    private mutating func answer(_ frame: Frame, inSlotAfter length: Int, hasOneSlot: Bool) -> TagAnswer? {
        guard !hasOneSlot else { return TagAnswer(frame) }
        let uid = UInt64(bytes: address.reversed())
        let slot = Int(uid >> length & 0x0F)
        slots = (slot, 0, frame)
        return slot == 0 ? TagAnswer(frame) : nil
    }

    /// Returns whether a family matches this tag. 0 in either half matches any value (ISO/IEC 15693-3, 6).
    private func matches(_ family: UInt8) -> Bool {
        (family & 0xF0 == 0 || family & 0xF0 == contents.afi & 0xF0)
            && (family & 0x0F == 0 || family & 0x0F == contents.afi & 0x0F)
    }
}

/// The extended options of INVENTORY READ on ICODE SLIX2 (SL2S2602 data sheet, table 47).
///
/// Two details come from that table alone: the answer always contains the UID, and the persistent option only has an
/// effect together with the quiet option. Table 48, with more about the latter, was not available.
private struct Options: OptionSet {
    let rawValue: UInt8
    /// Only tags with a set surveillance bit answer.
    static let surveillance = Options(rawValue: 0x01)
    /// The answer contains the whole UID, not only the part outside the mask.
    static let wholeIdentifier = Options(rawValue: 0x02)
    /// The answer contains no blocks, and the request no block numbers.
    static let noBlocks = Options(rawValue: 0x10)
    static let quiet = Options(rawValue: 0x20)
    static let persistentlyQuiet = Options(rawValue: 0x40)
}
