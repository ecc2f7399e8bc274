// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// ISO-DEP, the half-duplex block protocol of ISO/IEC 14443-4, over raw frames. It carries APDUs to Type 4 tags,
/// passports, payment cards and DESFire.
///
/// ```swift
/// let card = ISODEP(link: link)
/// let response = try await card.transmit([0x00, 0xA4, 0x04, 0x00])
/// ```
///
/// ``activate()`` sends RATS, or ATTRIB for a Type B card; so does the first command if needed. Missing and damaged
/// blocks are requested again within the protocol's rules. After any error except `frameTooLong`, the card's state is
/// unknown. Every later call throws the same error, until ``wasActivated()`` reports a new activation.
public final class ISODEP: APDULink {
    /// The command that starts the protocol with a selected card.
    public enum Opening: Sendable, Hashable {
        /// RATS, for a Type A card in the ACTIVE state.
        case requestAnswerToSelect
        /// ATTRIB, for a Type B card.
        case attribute(NFCBTarget)
    }

    /// The link that sends the blocks.
    public let link: any FrameLink
    /// The command that starts the protocol.
    public let opening: Opening
    /// The card identifier, 0 to 14, for addressing several cards at once. Nil omits it, which saves one byte per
    /// block.
    public let cid: UInt8?

    struct State {
        var machine: ISODEPStateMachine?
        var parameters = ISODEPParameters()
        var answerToSelect: AnswerToSelect?
        var isBusy = false
        /// Counts the activations, so that a command from an earlier activation can't change the current state.
        var activation = 0
        var failure: LinkError?
    }

    let state: Locked<State>

    /// Creates the protocol for a selected card that has not received RATS or ATTRIB yet. A card identifier, 0 to 14,
    /// keeps several cards active at once.
    public init(link: any FrameLink, opening: Opening = .requestAnswerToSelect, cid: UInt8? = nil) {
        precondition(cid ?? 0 < 15, "a card identifier is 0 to 14")
        self.link = link
        self.opening = opening
        self.cid = cid
        let assumed = ISODEPParameters(readerFrameSize: min(256, link.maximumFrameLength), cid: cid)
        self.state = Locked(State(parameters: assumed))
    }

    /// The parameters that reader and card agreed on. Before activation, the standard's defaults.
    public var parameters: ISODEPParameters { state.withLock { $0.parameters } }
    /// The card's ATS; nil for a Type B card or before activation.
    public var answerToSelect: AnswerToSelect? { state.withLock { $0.answerToSelect } }

    public var maximumCommandLength: Int { 65544 }
    public var maximumResponseLength: Int { ISODEPStateMachine.maximumResponse }
    public var singleBlockCommandLength: Int { parameters.commandPayload }
    public var singleBlockResponseLength: Int { parameters.responsePayload }
    public var statistics: LinkStatistics { link.statistics }
    public var countsAir: Bool { link.countsAir }

    public func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        guard apdu.count <= maximumCommandLength else {
            throw LinkError(.frameTooLong, "A command has \(apdu.count) bytes; the maximum is \(maximumCommandLength).")
        }
        try await activate()
        var (action, activation) = try begin(apdu)
        while true {
            switch action {
            case .finish(let response):
                state.withLock { if $0.activation == activation { $0.isBusy = false } }
                return response
            case .fail(let error):
                end(with: error, of: activation)
                throw error
            case .send(let block, let timeout):
                do throws(LinkError) {
                    let frame = try await link.transceive(Frame(block), timeout: timeout)
                    action = advance(activation) { $0.receive(frame) }
                } catch {
                    action = advance(activation) { $0.fail(error) }
                }
            }
        }
    }

    /// Returns whether the card still answers. Sends R(NAK), which the card answers with R(ACK) (ISO/IEC 14443-4,
    /// 7.5.6, method 1). If the protocol has not started yet, this starts it with RATS or ATTRIB.
    ///
    /// The card answers R(NAK) without involving an application, and so at once, even if its commands are slow. Each of
    /// up to three tries therefore waits about 20 ms at most, not the whole frame waiting time.
    public func isPresent() async -> Bool {
        if !state.withLock({ $0.machine != nil || $0.failure != nil }) { return (try? await activate()) != nil }
        let check = state.withLock { state in
            state.failure == nil && !state.isBusy ? state.machine?.presenceCheck : nil
        }
        // A card that is still executing a command counts as present.
        guard let check else { return state.withLock { $0.isBusy } }
        let timeout = parameters.presenceWaitingTime
        for _ in 0...ISODEPStateMachine.retries {
            do throws(LinkError) {
                let frame = try await link.transceive(Frame(check), timeout: timeout)
                if ISODEPBlock(frame.bytes, cid: cid) != nil { return true }
            } catch {
                guard error.code == .timeout || error.code == .transmission else { return false }
            }
        }
        return false
    }

    public func wasActivated() {
        state.withLock {
            $0.machine = nil
            $0.failure = nil
            $0.isBusy = false
            $0.activation += 1
        }
    }

    /// Ends the protocol with S(DESELECT). The card is then in the HALT state (ISO/IEC 14443-4, 8).
    ///
    /// - Throws: `LinkError` with `timeout` when the card did not confirm, and the errors of `transmit(_:)`. Even then,
    ///   the card counts as deselected.
    public func deselect() async throws(LinkError) {
        guard state.withLock({ $0.machine != nil }) else { return }
        _ = try begin([])
        end(with: LinkError(.readerUnavailable, "The card has been deselected."))
        let block = Frame(ISODEPBlock.deselect.bytes(cid: cid))
        // The frame waiting time of S(DESELECT) (ISO/IEC 14443-4, 8.1).
        let timeout = Airtime(carrierPeriods: 65536) + ISODEPParameters.waitingTolerance
        var failure = LinkError(.protocolViolation, "S(DESELECT) was answered with another block (ISO/IEC 14443-4, 8).")
        for _ in 0...ISODEPStateMachine.retries {
            do throws(LinkError) {
                let frame = try await link.transceive(block, timeout: timeout)
                if ISODEPBlock(frame.bytes, cid: cid) == .deselect { return }
            } catch {
                failure = error
                guard error.code == .timeout || error.code == .transmission else { throw error }
            }
        }
        throw failure
    }

    private func begin(_ apdu: [UInt8]) throws(LinkError) -> (action: ISODEPStateMachine.Action, activation: Int) {
        let begun = state.withLock { state -> Result<(ISODEPStateMachine.Action, Int), LinkError> in
            if let failure = state.failure { return .failure(failure) }
            guard !state.isBusy, var machine = state.machine else {
                return .failure(LinkError(.readerUnavailable, "Another command is already running on this card."))
            }
            state.isBusy = true
            let action = machine.begin(apdu)
            state.machine = machine
            return .success((action, state.activation))
        }
        return try begun.get()
    }

    private func advance(
        _ activation: Int,
        _ event: (inout ISODEPStateMachine) -> ISODEPStateMachine.Action
    ) -> ISODEPStateMachine.Action {
        state.withLock { state in
            guard state.activation == activation, var machine = state.machine else { return .fail(Self.activatedAgain) }
            let action = event(&machine)
            state.machine = machine
            return action
        }
    }

    /// The error of a command that was still running when the card was activated again.
    static let activatedAgain = LinkError(
        .readerUnavailable,
        "The card was activated again in the middle of a command."
    )

    /// Stores the error that every later command throws. Errors from an earlier activation are ignored.
    func end(with error: LinkError, of activation: Int? = nil) {
        state.withLock {
            guard activation == nil || activation == $0.activation else { return }
            $0.failure = error
            $0.isBusy = false
        }
    }
}

extension ISODEP {
    /// The number of times that RATS or ATTRIB is sent without an answer (ISO/IEC 14443-4, 5.6.1.1).
    static let openingAttempts = 2

    /// Starts the protocol: sends RATS or ATTRIB, with the largest frame size that the link supports.
    ///
    /// Does nothing if the protocol is already running. The bit rate stays at 106 kbit/s.
    ///
    /// - Throws: `LinkError` with `timeout` or `transmission` when the card does not answer, `protocolViolation` when
    ///   the answer is malformed, `unsupported` when a CID was requested and the card doesn't support it, and the
    ///   errors of `transmit(_:)`.
    public func activate() async throws(LinkError) {
        let (failure, isStarted, activation) = state.withLock { ($0.failure, $0.machine != nil, $0.activation) }
        if let failure { throw failure }
        guard !isStarted else { return }
        do throws(LinkError) {
            switch opening {
            case .requestAnswerToSelect: try await requestAnswerToSelect(activation)
            case .attribute(let target): try await attribute(target, activation)
            }
        } catch {
            end(with: error, of: activation)
            throw error
        }
    }

    private func requestAnswerToSelect(_ activation: Int) async throws(LinkError) {
        let sizeIndex = ISODEPParameters.frameSizeIndex(fitting: link.maximumFrameLength)
        // The activation frame waiting time: 71,680/fc (NFC Forum Digital 2.3, 14.6.1.3).
        let frame = try await link.transceive(
            Frame([0xE0, sizeIndex << 4 | (cid ?? 0)]),
            timeout: Airtime(carrierPeriods: 71680),
            attempts: Self.openingAttempts
        )
        let answer = try Result { () throws(TagError) in try AnswerToSelect(frame.bytes) }
            .mapError { LinkError(.protocolViolation, $0.reason) }.get()
        guard cid == nil || answer.supportsCID else {
            throw LinkError(.unsupported, "The card does not support card identifiers (ISO/IEC 14443-4, 5.2.6).")
        }
        try start(
            activation,
            cardFrameSize: ISODEPParameters.frameSize(index: answer.frameSizeIndex),
            readerFrameSize: ISODEPParameters.frameSize(index: sizeIndex),
            frameWaitingTime: ISODEPParameters.frameWaitingTime(index: answer.frameWaitingIndex),
            answer
        )
    }

    private func attribute(_ target: NFCBTarget, _ activation: Int) async throws(LinkError) {
        guard target.isISODEP else {
            throw LinkError(.unsupported, "The card does not support ISO/IEC 14443-4 (ISO/IEC 14443-3, 7.9.4).")
        }
        guard cid == nil || target.supportsCID else {
            throw LinkError(.unsupported, "The card does not support card identifiers (ISO/IEC 14443-3, 7.9.4).")
        }
        let sizeIndex = ISODEPParameters.frameSizeIndex(fitting: link.maximumFrameLength)
        let frame = try await link.transceive(
            Frame([0x1D] + target.identifier + [0x00, sizeIndex, 0x01, cid ?? 0]),
            timeout: target.frameWaitingTime + ISODEPParameters.waitingTolerance,
            attempts: Self.openingAttempts
        )
        guard let first = frame.bytes.first, first & 0x0F == cid ?? 0 else {
            throw LinkError(.protocolViolation, "The answer to ATTRIB has another CID (ISO/IEC 14443-3, 7.11).")
        }
        try start(
            activation,
            cardFrameSize: target.maximumFrameSize,
            readerFrameSize: ISODEPParameters.frameSize(index: sizeIndex),
            frameWaitingTime: target.frameWaitingTime,
            nil
        )
    }

    private func start(
        _ activation: Int,
        cardFrameSize: Int,
        readerFrameSize: Int,
        frameWaitingTime: Airtime,
        _ answer: AnswerToSelect?
    ) throws(LinkError) {
        let parameters = ISODEPParameters(
            cardFrameSize: min(cardFrameSize, link.maximumFrameLength),
            readerFrameSize: readerFrameSize,
            frameWaitingTime: frameWaitingTime,
            cid: cid
        )
        let isCurrent = state.withLock { state -> Bool in
            guard state.activation == activation else { return false }
            state.parameters = parameters
            state.answerToSelect = answer
            state.machine = ISODEPStateMachine(parameters)
            return true
        }
        guard isCurrent else { throw Self.activatedAgain }
    }
}

/// The parameters of ISO-DEP that reader and card agreed on (ISO/IEC 14443-4, 5.2 and 7.2).
public struct ISODEPParameters: Sendable, Hashable {
    /// FSC: the longest frame that the card accepts, in bytes with PCB and checksum.
    public var cardFrameSize: Int
    /// FSD: the longest frame that the reader accepts.
    public var readerFrameSize: Int
    /// FWT: the longest time until the card starts its answer.
    public var frameWaitingTime: Airtime
    /// The card identifier in every block; nil when blocks omit it.
    public var cid: UInt8?

    /// Creates parameters. The defaults are those of the standard.
    public init(
        cardFrameSize: Int = 32,
        readerFrameSize: Int = 256,
        frameWaitingTime: Airtime = ISODEPParameters.frameWaitingTime(index: 4),
        cid: UInt8? = nil
    ) {
        self.cardFrameSize = max(16, cardFrameSize)
        self.readerFrameSize = max(16, readerFrameSize)
        self.frameWaitingTime = frameWaitingTime
        self.cid = cid
    }

    /// The frame sizes, indexed by FSCI or FSDI.
    static let frameSizes = [16, 24, 32, 40, 48, 64, 96, 128, 256]

    /// Returns the frame size for an FSCI or FSDI. Reserved values mean 256 bytes (ISO/IEC 14443-4, 5.2.3).
    public static func frameSize(index: UInt8) -> Int { frameSizes[min(Int(index), frameSizes.count - 1)] }

    /// Returns the largest FSDI whose frame size does not exceed a limit.
    public static func frameSizeIndex(fitting limit: Int) -> UInt8 {
        UInt8(frameSizes.lastIndex { $0 <= limit } ?? 0)
    }

    /// Returns 4096/fc * 2^FWI. The reserved FWI 15 means 4 (ISO/IEC 14443-4, 7.2).
    public static func frameWaitingTime(index: UInt8) -> Airtime {
        Airtime(carrierPeriods: 4096 << Int64(index >= 15 ? 4 : index))
    }

    /// The longest frame waiting time, FWI 14. Waiting time extensions can't exceed it.
    static let longestFrameWaitingTime = frameWaitingTime(index: 14)

    /// The time that a reader waits in addition to the frame waiting time (NFC Forum Digital 2.3, 14.6: delta FWT).
    static let waitingTolerance = Airtime(carrierPeriods: 49152)

    /// How long a presence check waits for the answer: FWT, but at most 20 ms.
    ///
    /// FWT includes the time for a card's applications, up to 4.9 s. R(ACK) needs only the transport layer.
    var presenceWaitingTime: Airtime { min(frameWaitingTime, .milliseconds(20)) + Self.waitingTolerance }

    /// The number of bytes in a block besides the payload: PCB, CID, two bytes of checksum.
    private var overhead: Int { cid == nil ? 3 : 4 }

    /// The number of command bytes that fit into one block.
    var commandPayload: Int { cardFrameSize - overhead }
    /// The number of response bytes that fit into one block.
    var responsePayload: Int { readerFrameSize - overhead }
}

/// The ATS, a Type A card's answer to RATS (ISO/IEC 14443-4, 5.2).
public struct AnswerToSelect: Sendable, Hashable {
    /// The bytes, starting at TL.
    public let bytes: [UInt8]
    /// FSCI: the index of the longest frame that the card accepts. 2 when the ATS has no T0.
    public let frameSizeIndex: UInt8
    /// FWI: the index of the frame waiting time. 4 when the ATS has no TB(1).
    public let frameWaitingIndex: UInt8
    /// Whether blocks may have a card identifier. True when the ATS has no TC(1).
    public let supportsCID: Bool
    /// The historical bytes, T1 to Tk (ISO/IEC 7816-4, 8.1.1).
    public let historicalBytes: [UInt8]

    /// Reads an ATS, starting at TL, without checksum. Its length must equal TL.
    ///
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ bytes: [UInt8]) throws(TagError) {
        guard let length = bytes.first, length > 0, Int(length) == bytes.count else {
            throw TagError(.badAnswer, "The ATS's length byte TL is wrong (ISO/IEC 14443-4, 5.2.2).")
        }
        self.bytes = bytes
        // Without T0, FSCI is 2 and there are no interface bytes.
        let format = bytes.count > 1 ? bytes[1] : 0x02
        var position = min(2, bytes.count)
        guard bytes.count >= position + [0x10, 0x20, 0x40].count(where: { format & $0 != 0 }) else {
            throw TagError(.badAnswer, "The ATS ends before its interface bytes (ISO/IEC 14443-4, 5.2.3).")
        }
        func next(_ flag: UInt8) -> UInt8? {
            guard format & flag != 0 else { return nil }
            defer { position += 1 }
            return bytes[position]
        }
        self.frameSizeIndex = format & 0x0F
        // Skips TA(1), the bit rates.
        _ = next(0x10)
        self.frameWaitingIndex = next(0x20).map { $0 >> 4 } ?? 4
        self.supportsCID = next(0x40).map { $0 & 0x02 != 0 } ?? true
        self.historicalBytes = Array(bytes[position...])
    }
}
