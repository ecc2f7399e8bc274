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
    /// The tag's slot and the present one, while an inventory with 16 slots goes on, and what the tag says in its own.
    var slots: (own: Int, present: Int, answer: Frame)?
    /// An answer that waits for the end of a frame, as the option flag of a write asks for.
    private var delayed: TagAnswer?
    /// The random number of GET RANDOM NUMBER.
    var challenge: UInt16 = 0
    /// The passwords that an ICODE was given.
    var presentedPasswords: Set<UInt8> = []
    /// The password whose security session is open on a product of ST.
    var session: UInt8?
    /// Whether INITIATE came, so that ST25TV answers INVENTORY INITIATED.
    var isInitiated = false
    /// Whether ST25TV has counted since the power came.
    var hasCounted = false
    /// Whether energy harvesting of ST25DV is switched on.
    var harvestsEnergy = false
    /// The mailbox of ST25DV.
    var mailbox = ST25Mailbox()
    /// After a wrong password the tag says no more until it loses its power.
    var isMute = false
    /// What a power cut leaves of the blocks that the present command programs.
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
    /// The UID as it is on the air.
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

    /// Whether a request reaches a tag that hides: a private ICODE hears GET RANDOM NUMBER and SET PASSWORD alone
    /// (SL2S2602 data sheet, 9.5.3.9). That an untraceable ST25TV hears the like and is silent to an inventory is a guess:
    /// ST's software and the excerpts of DS12074 that were looked at do not say.
    private func isHeard(_ request: Type5Request) -> Bool {
        if contents.protection.isPrivate {
            return request.command == 0xB2 || (request.command == 0xB3 && request.parameters.first == 0x04)
        }
        if contents.settings.isUntraceable { return request.command == 0xB4 || request.command == 0xB3 }
        return true
    }

    mutating func receive(_ frame: Frame, disturbance: Disturbance?) -> TagAnswer? {
        if frame.bytes.isEmpty { return receiveEndOfFrame() }
        slots = nil
        delayed = nil
        guard !isMute, !isDead, let bytes = frame.payload(checkedBy: .nfcV), let request = Type5Request(bytes),
            isHeard(request)
        else {
            return nil
        }
        if request.isInventory { return receiveInventory(request) }
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
            contents.protection.isPersistentlyQuiet = false
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

    /// The end of a frame alone: the next slot of an inventory, or the answer to a write that waited for it. It carries
    /// no checksum to check.
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
            return acknowledge(reply, waitsForEnd: request.option && !reply.ignoresOption)
        case .success(let reply) where reply.isSilent:
            return nil
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

extension Type5Silicon {
    /// The commands of a manufacturer.
    mutating func custom(_ request: Type5Request) throws(Type5Error) -> Type5Reply {
        let features = product.features
        if features.contains(.surveillance), (0xA2...0xA7).contains(request.command) {
            return try surveillance(request)
        }
        if features.contains(.passwords) { return try icode(request) }
        if features.contains(.configuration) { return try dynamicTag(request) }
        if features.contains(.tagConfiguration) { return try plainTag(request) }
        throw .notSupported
    }

    /// Octets, least significant first.
    static func word(_ octets: some BidirectionalCollection<UInt8>) -> UInt32 {
        UInt32(octets: octets.reversed())
    }

    /// Takes the random number off a password: it is combined with each half of 16 bits.
    func uncovered(_ octets: some Collection<UInt8>) -> [UInt8] {
        let mask = challenge.littleEndianOctets
        return zip(0..., octets).map { $0.1 ^ mask[$0.0 & 1] }
    }

    /// GET RANDOM NUMBER.
    mutating func nextChallenge() -> Type5Reply {
        challenge = UInt16(truncatingIfNeeded: random.next())
        return Type5Reply(challenge.littleEndianOctets)
    }
}
