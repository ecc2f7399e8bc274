// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The state machine of a Type 5 tag: a frame goes in, and the answer comes out.
///
/// States are those of ISO/IEC 15693-3, 7.2: READY, QUIET and SELECTED.
struct Type5Silicon: Sendable {
    enum State: Sendable {
        case ready, quiet, selected
    }

    var contents: Type5Contents

    // Volatile state.
    var state = State.ready
    /// The tag's slot and the present one, while an inventory with 16 slots goes on.
    private var slots: (own: Int, present: Int)?
    /// An answer that waits for the end of a frame, as the option flag of a write asks for.
    private var delayed: TagAnswer?
    /// The random number of GET RANDOM NUMBER.
    var challenge: UInt16 = 0
    /// The passwords that were given.
    var presentedPasswords: Set<UInt8> = []
    /// After a wrong password the tag says no more until it loses its power.
    var isMute = false
    /// What a power cut leaves of the blocks that the present command programs.
    var tear: TornWrite?
    var random: SplitMix64

    init(_ contents: Type5Contents) {
        self.contents = contents
        random = SplitMix64(seed: contents.uid.reduce(0) { $0 << 8 | UInt64($1) })
        let size = contents.product.dataBlockCount * contents.product.blockSize
        if contents.memory.count < size {
            self.contents.memory += Array(repeating: 0, count: size - contents.memory.count)
        }
    }

    var product: Type5Product { contents.product }
    /// The UID as it is on the air.
    var address: [UInt8] { contents.uid.reversed() }

    mutating func losePower() {
        state = .ready
        slots = nil
        delayed = nil
        challenge = 0
        presentedPasswords = []
        isMute = false
    }

    mutating func receive(_ frame: Frame, disturbance: Disturbance?) -> TagAnswer? {
        if frame.bytes.isEmpty { return receiveEndOfFrame() }
        slots = nil
        delayed = nil
        guard !isMute, let bytes = frame.payload(checkedBy: .nfcV), let request = Type5Request(bytes) else {
            return nil
        }
        if request.isInventory {
            return request.command == 0x01 ? receiveInventory(request) : nil
        }
        guard isMeant(request) else { return nil }
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
            return TagAnswer(Frame([0x00]))
        default:
            return execute(request, disturbance)
        }
    }

    /// Whether a request is for this tag (ISO/IEC 15693-3, 7.3.1). A SELECT of another tag ends this one's selection.
    private mutating func isMeant(_ request: Type5Request) -> Bool {
        if let code = request.manufacturer, code != contents.uid[1] { return false }
        if let named = request.address {
            guard !request.isForSelected else { return false }
            if named == address { return true }
            if request.command == 0x25, state == .selected { state = .ready }
            return false
        }
        return request.isForSelected ? state == .selected : state != .quiet
    }

    // MARK: Inventory

    /// INVENTORY (ISO/IEC 15693-3, 8): answers in the slot that the UID's bits after the mask name.
    private mutating func receiveInventory(_ request: Type5Request) -> TagAnswer? {
        var rest = request.parameters[...]
        if request.namesFamily {
            guard let family = rest.popFirst(), matches(family) else { return nil }
        }
        let slotBits = request.hasOneSlot ? 0 : 4
        guard state != .quiet, let length = rest.popFirst().map(Int.init), length + slotBits <= 64,
            rest.count == (length + 7) / 8, address.startsWithBits(length, of: Array(rest))
        else { return nil }
        let uid = address.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let slot = request.hasOneSlot ? 0 : Int(uid >> UInt64(length) & 0x0F)
        if !request.hasOneSlot { slots = (slot, 0) }
        return slot == 0 ? inventoryAnswer : nil
    }

    private var inventoryAnswer: TagAnswer {
        TagAnswer(Frame([0x00, contents.dsfid] + address))
    }

    /// Whether an application family means this tag: 0 in either half of the octet stands for any (ISO/IEC 15693-3, 6).
    private func matches(_ family: UInt8) -> Bool {
        (family & 0xF0 == 0 || family & 0xF0 == contents.afi & 0xF0)
            && (family & 0x0F == 0 || family & 0x0F == contents.afi & 0x0F)
    }

    /// The end of a frame alone: the next slot of an inventory, or the answer to a write that waited for it. It carries
    /// no checksum to check.
    private mutating func receiveEndOfFrame() -> TagAnswer? {
        if let answer = delayed {
            delayed = nil
            return answer
        }
        guard let (own, present) = slots else { return nil }
        slots = present < 15 ? (own, present + 1) : nil
        return own == present + 1 ? inventoryAnswer : nil
    }

    // MARK: Commands

    private mutating func execute(_ request: Type5Request, _ disturbance: Disturbance?) -> TagAnswer? {
        let before = contents
        switch disturbance {
        case .refusal(let code): return TagAnswer(Frame([0x01, code]))
        case .powerCut(let rest): tear = rest
        case .writeRefusal, nil: break
        }
        let reply = Result { () throws(Type5Error) in try self.reply(to: request) }
        tear = nil
        switch reply {
        case .failure(let error):
            return isMute ? nil : TagAnswer(Frame([0x01, error.rawValue]))
        case .success(let reply) where reply.programmedBlocks > 0:
            if case .writeRefusal(let code) = disturbance {
                contents = before
                return TagAnswer(Frame([0x01, code]), isWrite: true)
            }
            return acknowledge(reply, waitsForEnd: request.option)
        case .success(let reply):
            return TagAnswer(Frame([0x00] + reply.data))
        }
    }

    /// The answer to a write: after the programming time in steps of 4096 carrier periods, or at the end of a frame
    /// that the reader sends (ISO/IEC 15693-3, 9.3.2 and 10.4.2).
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
        case 0x22, 0x32:
            return try lockBlock(try number(&rest, isExtended, last: true))
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
        default:
            throw .notSupported
        }
    }

    /// Takes a number of one octet, or of two in an extended command, least significant first.
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
