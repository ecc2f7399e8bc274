// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The state machine of a Type 4 tag: activation, ISO-DEP, and a card above them.
struct Type4Chip: TagChip {
    /// The activation layer; one of the two is nil.
    private var listenerA: NFCAListener?
    private var listenerB: NFCBListener?
    private var ats: [UInt8] = []
    private var parameters: Type4FrontEnd.Parameters
    private let uid: [UInt8]
    /// Generates further UIDs; nil unless the UID is random.
    private var identifiers: SplitMix64?
    /// The UIDs of the current and the previous power-up, if UIDs are random.
    private(set) var randomIdentifiers: [[UInt8]] = []
    var card: any Card

    // Volatile state.
    private var blocks: ISODEPListener?
    /// Whether the next block may be a PPS: nothing was received since RATS.
    private var allowsSelection = false
    private var cid: UInt8 = 0
    /// The card's remaining work time while it requests extensions.
    private var remainingWork = Airtime.zero
    /// The time within which the reader expects the next block.
    private var allowance = Airtime.zero

    init(frontEnd: Type4FrontEnd, card: any Card, changesRandomUID: Bool) {
        parameters = frontEnd.parameters
        uid = frontEnd.identifier
        self.card = card
        switch frontEnd {
        case .nfcA(let uid, let atqa, let sak, let ats):
            listenerA = NFCAListener(uid: uid, atqa: atqa, sak: sak)
            self.ats = ats
            // A 4-byte UID that starts with 08 is random (ISO/IEC 14443-3, 6.5.4).
            if changesRandomUID, uid.count == 4, uid[0] == 0x08 {
                identifiers = SplitMix64(identifier: uid)
            }
        case .nfcB(let pupi, let data, let info):
            listenerB = NFCBListener(pupi: pupi, applicationData: data, protocolInfo: info)
        }
        if applyConfiguration() { drawIdentifier() }
    }

    /// Applies the ATS and the random UID that SET CONFIGURATION set on a DESFire.
    ///
    /// - Returns: whether the card is configured for random UIDs.
    @discardableResult
    private mutating func applyConfiguration() -> Bool {
        guard listenerA != nil, let configuration = (card as? DESFireCard)?.contents.configuration else { return false }
        if let answer = configuration.answerToSelect, answer != ats {
            ats = answer
            parameters = Type4FrontEnd.parameters(ats: answer)
        }
        // Random UIDs are derived from the card's permanent UID, so that they are the same in every run.
        if configuration.usesRandomUID, identifiers == nil { identifiers = SplitMix64(identifier: uid) }
        return configuration.usesRandomUID
    }

    /// Changes to the next random UID, if UIDs are random.
    private mutating func drawIdentifier() {
        guard let number = identifiers?.next() else { return }
        let identifier = [0x08] + (0..<3).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        randomIdentifiers = randomIdentifiers.suffix(1) + [identifier]
        listenerA?.replaceIdentifier(identifier)
    }

    mutating func losePower() {
        listenerA?.losePower()
        listenerB?.reset()
        endProtocol()
        applyConfiguration()
        drawIdentifier()
    }

    /// Leaves the block protocol. A deselected card loses its volatile state.
    private mutating func endProtocol() {
        if blocks != nil { card.losePower() }
        blocks = nil
        allowsSelection = false
        remainingWork = .zero
    }

    mutating func receive(_ frame: Frame, injectedFault: InjectedFault?) -> TagAnswer? {
        if blocks != nil, listenerA != nil {
            // In the block protocol, incomplete blocks are ignored (ISO/IEC 14443-4, 7.5.5).
            guard frame.validBitsInLastByte == 8, let block = frame.payload(checkedBy: .nfcA) else { return nil }
            if allowsSelection {
                allowsSelection = false
                if let answer = selectParameters(block) { return answer }
            }
            return exchange(block, injectedFault)
        }
        if let outcome = listenerA?.receive(frame) { return activateA(outcome) }
        if let outcome = listenerB?.receive(frame) { return activateB(outcome, injectedFault) }
        return nil
    }

    // MARK: NFC-A

    private mutating func activateA(_ outcome: NFCAListener.Outcome) -> TagAnswer? {
        switch outcome {
        case .silence: return nil
        case .answer(let answer), .woken(let answer): return TagAnswer(answer)
        case .command(let command) where command.count == 2 && command[0] == 0xE0 && command[1] & 0x0F != 15:
            begin(cid: command[1] & 0x0F, readerFrameSize: Type4FrontEnd.frameSize(command[1] >> 4))
            allowsSelection = true
            return TagAnswer(Frame(ats))
        case .command, .damaged:
            listenerA?.deselect()
            return nil
        }
    }

    /// PPS (ISO/IEC 14443-4, 5.3). The tag ignores a request for rates that the ATS does not offer.
    private func selectParameters(_ block: [UInt8]) -> TagAnswer? {
        guard block.count >= 2, block[0] == 0xD0 | cid else { return nil }
        if block[1] & 0x10 != 0 {
            guard block.count == 3 else { return nil }
            let receive = block[2] & 0x03
            let send = block[2] >> 2 & 0x03
            guard parameters.receiveDivisors.contains(receive), parameters.sendDivisors.contains(send),
                !parameters.needsSameDivisor || receive == send
            else { return nil }
        } else if block.count != 2 {
            return nil
        }
        return TagAnswer(Frame([block[0]]))
    }

    // MARK: NFC-B

    private mutating func activateB(_ outcome: NFCBListener.Outcome, _ injectedFault: InjectedFault?) -> TagAnswer? {
        switch outcome {
        case .silence: return nil
        case .answer(let answer): return TagAnswer(Frame(answer))
        case .activated(let cid, let readerFrameSize, let message):
            begin(cid: cid, readerFrameSize: readerFrameSize)
            // A card that does not support CIDs answers 0 (ISO/IEC 14443-3, 7.11).
            let answeredCID = parameters.supportsCID ? cid : 0
            guard !message.isEmpty else { return TagAnswer(Frame([answeredCID])) }
            let answer = card.process(message, injectedFault: injectedFault)
            return TagAnswer(Frame([answeredCID] + answer.bytes), workTime: answer.workTime, isWrite: answer.isWrite)
        case .block(let block): return exchange(block, injectedFault)
        }
    }

    // MARK: Blocks

    private mutating func begin(cid: UInt8, readerFrameSize: Int) {
        self.cid = cid
        blocks = ISODEPListener(
            cardFrameSize: parameters.frameSize,
            readerFrameSize: readerFrameSize,
            cid: cid,
            supportsCID: parameters.supportsCID
        )
    }

    /// Passes a block to ISO-DEP, and a complete message to the card.
    private mutating func exchange(_ block: [UInt8], _ injectedFault: InjectedFault?) -> TagAnswer? {
        switch blocks?.receive(block) {
        case nil, .silence: return nil
        case .send(let block):
            let work = remainingWork
            remainingWork = .zero
            return TagAnswer(Frame(block), workTime: work)
        case .extend(let block, let multiplier): return extend(block, multiplier, isWrite: false)
        case .halt(let block):
            endProtocol()
            _ = listenerA?.receive(Frame([0x50, 0x00]))
            listenerB?.halt()
            return TagAnswer(Frame(block))
        case .process(let message): return answer(with: card.process(message, injectedFault: injectedFault))
        }
    }

    /// Starts a card's answer. If the card works longer than the frame waiting time, it requests extensions.
    private mutating func answer(with answer: CardAnswer) -> TagAnswer? {
        let waitingTime = parameters.waitingTime
        var extensions = answer.waitingTimeExtensions
        remainingWork = answer.workTime
        allowance = waitingTime
        var uncovered = answer.workTime
        for multiplier in extensions { uncovered = uncovered - waitingTime * Int(multiplier) }
        while uncovered > waitingTime {
            let periods = (uncovered.carrierPeriods + waitingTime.carrierPeriods - 1) / waitingTime.carrierPeriods
            let multiplier = UInt8(min(59, periods))
            extensions.append(multiplier)
            uncovered = uncovered - waitingTime * Int(multiplier)
        }
        switch blocks?.answer(answer.bytes, extensions: extensions) {
        case .send(let block):
            remainingWork = .zero
            return TagAnswer(Frame(block), workTime: answer.workTime, isWrite: answer.isWrite)
        case .extend(let block, let multiplier): return extend(block, multiplier, isWrite: answer.isWrite)
        default: return nil
        }
    }

    /// Returns an S(WTX) request. The card sends it at once, unless its work takes longer than the extension. Then it
    /// first works for as long as it may.
    private mutating func extend(_ block: [UInt8], _ multiplier: UInt8, isWrite: Bool) -> TagAnswer {
        var work = Airtime.zero
        let granted = parameters.waitingTime * Int(multiplier)
        if remainingWork > granted {
            work = min(allowance, remainingWork - granted)
            remainingWork = remainingWork - work
        }
        allowance = granted
        return TagAnswer(Frame(block), workTime: work, isWrite: isWrite)
    }
}
