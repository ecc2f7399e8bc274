// SPDX-License-Identifier: Apache-2.0
import Synchronization
public import TagLink

/// ISO-DEP, the half-duplex block protocol of ISO/IEC 14443-4, over raw frames: how APDUs reach Type 4 tags, passports,
/// payment cards and DESFire.
///
/// ```swift
/// let card = try await ISODEP.activate(target, link: link)
/// let response = try await card.transmit([0x00, 0xA4, 0x04, 0x00])
/// ```
///
/// Missing and damaged blocks are asked for again within the protocol's rules. After any error other than
/// `frameTooLong` the two sides may disagree on where they are: every later call throws that error again, and the card
/// has to be activated anew.
public final class ISODEP: APDULink {
    /// The link that carries the blocks.
    public let link: any FrameLink
    /// What reader and card agreed on.
    public let parameters: ISODEPParameters
    /// The card's ATS; nil for a Type B card.
    public let answerToSelect: AnswerToSelect?

    private struct State {
        var machine: ISODEPStateMachine
        var isBusy = false
        var failure: LinkError?
    }

    private let state: Mutex<State>

    /// Takes over a card that has been activated as far as RATS or ATTRIB.
    ///
    /// - Parameters:
    ///   - link: the link over which it was activated.
    ///   - parameters: what was agreed on.
    ///   - answerToSelect: the card's ATS, when it has one.
    public init(link: any FrameLink, parameters: ISODEPParameters, answerToSelect: AnswerToSelect? = nil) {
        self.link = link
        self.parameters = parameters
        self.answerToSelect = answerToSelect
        self.state = Mutex(State(machine: ISODEPStateMachine(parameters)))
    }

    public var maximumCommandLength: Int { 65544 }
    public var maximumResponseLength: Int { ISODEPStateMachine.maximumResponse }
    public var singleBlockCommandLength: Int { parameters.commandPayload }
    public var singleBlockResponseLength: Int { parameters.responsePayload }
    public var statistics: LinkStatistics { link.statistics }

    public func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        guard apdu.count <= maximumCommandLength else {
            throw LinkError(.frameTooLong, "A command has \(apdu.count) octets; \(maximumCommandLength) is the most.")
        }
        var action = try start { $0.begin(apdu) }
        while true {
            switch action {
            case .finish(let response):
                state.withLock { $0.isBusy = false }
                return response
            case .fail(let error):
                throw end(with: error)
            case .send(let block, let timeout):
                do throws(LinkError) {
                    let frame = try await link.transceive(Frame(block), timeout: timeout)
                    action = state.withLock { $0.machine.receive(frame) }
                } catch {
                    action = state.withLock { $0.machine.fail(error) }
                }
            }
        }
    }

    /// Says whether the card still answers: R(NAK), which it answers with R(ACK) and nothing else happens
    /// (ISO/IEC 14443-4, 7.5.6, method 1).
    public func isPresent() async -> Bool {
        let block: [UInt8]? = state.withLock { $0.failure == nil && !$0.isBusy ? $0.machine.presenceCheck : nil }
        guard let block else { return state.withLock { $0.isBusy } }
        for _ in 0...ISODEPStateMachine.retries {
            do throws(LinkError) {
                let timeout = parameters.frameWaitingTime + ISODEPParameters.waitingTolerance
                let frame = try await link.transceive(Frame(block), timeout: timeout)
                if ISODEPBlock(frame.bytes, cid: parameters.cid) != nil { return true }
            } catch {
                guard error.code == .timeout || error.code == .transmission else { return false }
            }
        }
        return false
    }

    /// Ends the protocol with S(DESELECT); the card is then in HALT (ISO/IEC 14443-4, 8).
    ///
    /// - Throws: ``LinkError`` with `timeout` when the card did not agree, and as `transmit(_:)` does. The card counts as
    ///   deselected all the same.
    public func deselect() async throws(LinkError) {
        _ = try start { $0.begin([]) }
        let block = Frame(ISODEPBlock.deselect.octets(cid: parameters.cid))
        let timeout = Airtime(carrierPeriods: 65536) + ISODEPParameters.waitingTolerance
        let gone = end(with: LinkError(.readerUnavailable, "The card has been deselected."))
        var failure = gone
        for _ in 0...ISODEPStateMachine.retries {
            do throws(LinkError) {
                let frame = try await link.transceive(block, timeout: timeout)
                if ISODEPBlock(frame.bytes, cid: parameters.cid) == .deselect { return }
                failure = LinkError(.protocolViolation, "S(DESELECT) was answered with another block.")
            } catch {
                failure = error
                guard error.code == .timeout || error.code == .transmission else { break }
            }
        }
        throw failure
    }

    private func start(
        _ begin: (inout ISODEPStateMachine) -> ISODEPStateMachine.Action
    ) throws(LinkError) -> ISODEPStateMachine.Action {
        let started = state.withLock { state -> Result<ISODEPStateMachine.Action, LinkError> in
            if let failure = state.failure { return .failure(failure) }
            guard !state.isBusy else {
                return .failure(LinkError(.readerUnavailable, "Another command is under way on this card."))
            }
            state.isBusy = true
            return .success(begin(&state.machine))
        }
        return try started.get()
    }

    private func end(with error: LinkError) -> LinkError {
        state.withLock {
            $0.failure = error
            $0.isBusy = false
        }
        return error
    }
}
