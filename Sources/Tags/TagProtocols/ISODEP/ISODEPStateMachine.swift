// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The reader's half of the block protocol (ISO/IEC 14443-4, 7.5). It decides which block to send next, and when a
/// response is complete.
///
/// It always ends: damaged or missing blocks are requested again at most ``retries`` times in a row, a card may extend
/// its waiting time ``maximumExtensions`` times per APDU, and the length of a response is limited.
struct ISODEPStateMachine {
    enum Action: Equatable {
        case send([UInt8], timeout: Airtime)
        case finish([UInt8])
        case fail(LinkError)
    }

    /// How often in a row a missing or damaged block may be requested again (NFC Forum Digital 2.3, 16.2: nRETRY).
    static let retries = 2
    /// The number of times that a card may extend its waiting time in one APDU.
    static let maximumExtensions = 128
    /// The longest response to a command with extended length fields: 65,536 bytes and a status word.
    static let maximumResponse = 65538
    /// The longest response to any other command. Proprietary commands may exceed the standard's limit.
    static let maximumShortResponse = 4096

    private enum Phase: Equatable {
        case idle, sending, receiving
    }

    private let parameters: ISODEPParameters
    private var phase = Phase.idle
    private var blockNumber: UInt8 = 0
    private var command: [UInt8] = []
    private var sent = 0
    private var block: Range<Int> = 0..<0
    private var response: [UInt8] = []
    private var responseLimit = maximumShortResponse
    private var failures = 0
    private var extensions = 0
    private var timeout: Airtime

    init(_ parameters: ISODEPParameters) {
        self.parameters = parameters
        self.timeout = parameters.frameWaitingTime
    }

    mutating func begin(_ apdu: [UInt8]) -> Action {
        command = apdu
        response = []
        responseLimit = CommandAPDU.isExtended(apdu) ? Self.maximumResponse : Self.maximumShortResponse
        sent = 0
        failures = 0
        extensions = 0
        phase = .sending
        return sendNextBlock()
    }

    mutating func receive(_ frame: Frame) -> Action {
        guard frame.validBitsInLastByte == 8, let answer = ISODEPBlock(frame.bytes, cid: parameters.cid) else {
            return recover(.init(.protocolViolation, "An answer is not a block (ISO/IEC 14443-4, 7.1)."))
        }
        switch answer {
        case .information(let number, let isChained, let payload):
            guard number == blockNumber, phase == .receiving || block.upperBound == command.count else {
                return recover(.init(.protocolViolation, "An I-block has the wrong number (ISO/IEC 14443-4, 7.5.4)."))
            }
            return take(payload, isChained: isChained)
        case .acknowledge(let number): return acknowledge(number)
        case .waitingTimeExtension(let multiplier): return extend(multiplier)
        case .negativeAcknowledge, .deselect:
            return recover(.init(.protocolViolation, "The card sent a reader's block (ISO/IEC 14443-4, 7.1)."))
        }
    }

    mutating func fail(_ error: LinkError) -> Action {
        switch error.code {
        case .timeout, .transmission, .collision: return recover(error)
        default:
            phase = .idle
            return .fail(error)
        }
    }

    /// The block for a presence check: R(NAK). An idle card answers with R(ACK) (ISO/IEC 14443-4, 7.5.6).
    var presenceCheck: [UInt8] {
        ISODEPBlock.negativeAcknowledge(number: blockNumber).bytes(cid: parameters.cid)
    }

    private mutating func take(_ payload: [UInt8], isChained: Bool) -> Action {
        guard !isChained || !payload.isEmpty else { return stop("A chained block is empty (ISO/IEC 14443-4, 7.5.2).") }
        guard response.count + payload.count <= responseLimit else {
            return stop("The response is longer than \(responseLimit) bytes (ISO/IEC 7816-4, 5.1).")
        }
        response += payload
        failures = 0
        timeout = parameters.frameWaitingTime
        blockNumber ^= 1
        guard isChained else {
            phase = .idle
            return .finish(response)
        }
        phase = .receiving
        return send(.acknowledge(number: blockNumber))
    }

    private mutating func acknowledge(_ number: UInt8) -> Action {
        guard phase == .sending else {
            return recover(.init(.protocolViolation, "The card acknowledges its own block (ISO/IEC 14443-4, 7.5.5)."))
        }
        if number != blockNumber {
            // The card did not receive the last block (rule 6). Its answer ends any waiting time extension (7.3).
            failures += 1
            timeout = parameters.frameWaitingTime
            guard failures <= Self.retries else {
                return stop("The card does not accept a repeated block (ISO/IEC 14443-4, 7.5.4, rule 6).")
            }
            return sendBlock()
        }
        guard block.upperBound < command.count else {
            return stop("The card acknowledges a command instead of answering it (ISO/IEC 14443-4, 7.5.4, rule 7).")
        }
        failures = 0
        timeout = parameters.frameWaitingTime
        blockNumber ^= 1
        sent = block.upperBound
        return sendNextBlock()
    }

    private mutating func extend(_ multiplier: UInt8) -> Action {
        guard (1...59).contains(multiplier) else {
            return recover(.init(.protocolViolation, "S(WTX) has the multiplier \(multiplier) (ISO/IEC 14443-4, 7.3)."))
        }
        extensions += 1
        guard extensions <= Self.maximumExtensions else {
            return stop("The card asked for more time \(extensions) times in one command (ISO/IEC 14443-4, 7.3).")
        }
        failures = 0
        timeout = min(
            parameters.frameWaitingTime * Int(multiplier),
            max(ISODEPParameters.longestFrameWaitingTime, parameters.frameWaitingTime)
        )
        return send(.waitingTimeExtension(multiplier: multiplier))
    }

    /// Requests a block again: R(ACK) while the card chains, otherwise R(NAK) (rules 4 and 5).
    private mutating func recover(_ error: LinkError) -> Action {
        failures += 1
        guard failures <= Self.retries else {
            phase = .idle
            return .fail(error)
        }
        let isReceiving = phase == .receiving
        return send(isReceiving ? .acknowledge(number: blockNumber) : .negativeAcknowledge(number: blockNumber))
    }

    private mutating func stop(_ reason: String) -> Action {
        phase = .idle
        return .fail(LinkError(.protocolViolation, reason))
    }

    private mutating func sendNextBlock() -> Action {
        block = sent..<min(command.count, sent + parameters.commandPayload)
        return sendBlock()
    }

    private func sendBlock() -> Action {
        let isChained = block.upperBound < command.count
        return send(.information(number: blockNumber, isChained: isChained, payload: Array(command[block])))
    }

    private func send(_ block: ISODEPBlock) -> Action {
        .send(block.bytes(cid: parameters.cid), timeout: timeout + ISODEPParameters.waitingTolerance)
    }
}

/// A block, the unit of transmission in ISO-DEP (ISO/IEC 14443-4, 7.1).
enum ISODEPBlock: Equatable {
    /// An I-block: a part of an APDU.
    case information(number: UInt8, isChained: Bool, payload: [UInt8])
    /// R(ACK).
    case acknowledge(number: UInt8)
    /// R(NAK), which only the reader sends.
    case negativeAcknowledge(number: UInt8)
    /// S(WTX).
    case waitingTimeExtension(multiplier: UInt8)
    /// S(DESELECT).
    case deselect

    /// Reads a frame's bytes; nil when they aren't a block, or the block is for another card.
    init?(_ bytes: [UInt8], cid: UInt8?) {
        guard let pcb = bytes.first else { return nil }
        var start = 1
        if pcb & 0x08 != 0 {
            guard let cid, bytes.count > 1, bytes[1] & 0x0F == cid else { return nil }
            start = 2
        } else if let cid, cid != 0 {
            return nil
        }
        let rest = bytes[start...]
        // Bit 3 means that a node address follows, which this reader never uses. Bit 4 means that a CID follows.
        switch pcb & 0xF6 {
        case 0x02, 0x12:
            self = .information(number: pcb & 1, isChained: pcb & 0x10 != 0, payload: Array(rest))
        case 0xA2 where rest.isEmpty: self = .acknowledge(number: pcb & 1)
        case 0xB2 where rest.isEmpty: self = .negativeAcknowledge(number: pcb & 1)
        case 0xF2 where pcb & 1 == 0:
            guard rest.count == 1, let first = rest.first else { return nil }
            // The two high bits are a power level indication (ISO/IEC 14443-4, 7.4).
            self = .waitingTimeExtension(multiplier: first & 0x3F)
        case 0xC2 where pcb & 1 == 0 && rest.isEmpty: self = .deselect
        default: return nil
        }
    }

    func bytes(cid: UInt8?) -> [UInt8] {
        let pcb: UInt8
        var payload: [UInt8] = []
        switch self {
        case .information(let number, let isChained, let content):
            pcb = 0x02 | number | (isChained ? 0x10 : 0)
            payload = content
        case .acknowledge(let number): pcb = 0xA2 | number
        case .negativeAcknowledge(let number): pcb = 0xB2 | number
        case .waitingTimeExtension(let multiplier):
            pcb = 0xF2
            payload = [multiplier]
        case .deselect: pcb = 0xC2
        }
        guard let cid else { return [pcb] + payload }
        return [pcb | 0x08, cid] + payload
    }
}
