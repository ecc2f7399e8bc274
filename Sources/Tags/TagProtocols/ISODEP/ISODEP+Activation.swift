// SPDX-License-Identifier: Apache-2.0
public import TagLink

extension ISODEP {
    /// How often RATS or ATTRIB is sent when there is no answer (ISO/IEC 14443-4, 5.6.1.1).
    static let openingAttempts = 2

    /// Starts the protocol: RATS or ATTRIB, with the largest frame size that the link supports.
    ///
    /// Does nothing when the protocol has started already. The bit rate stays at 106 kbit/s; see ``select(bitRate:)``.
    /// The card may ask for a guard time, ``AnswerToSelect/startUpGuardTime``; the caller must wait for it before the
    /// first command.
    ///
    /// - Throws: `LinkError` with `timeout` or `transmission` when the card does not answer, `protocolViolation` when
    ///   its answer is malformed, `unsupported` when a CID was requested and the card doesn't support it, and the
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
        let frame = try await open([0xE0, sizeIndex << 4 | (cid ?? 0)], timeout: Airtime(carrierPeriods: 71680))
        let answer: AnswerToSelect
        do throws(TagError) {
            answer = try AnswerToSelect(frame.bytes)
        } catch {
            throw LinkError(.protocolViolation, error.reason)
        }
        guard cid == nil || answer.supportsCID else {
            throw LinkError(.unsupported, "The card takes no card identifier (ISO/IEC 14443-4, 5.2.6).")
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
            throw LinkError(.unsupported, "The card does not speak ISO/IEC 14443-4 (ISO/IEC 14443-3, 7.9.4).")
        }
        guard cid == nil || target.supportsCID else {
            throw LinkError(.unsupported, "The card takes no card identifier (ISO/IEC 14443-3, 7.9.4).")
        }
        let sizeIndex = ISODEPParameters.frameSizeIndex(fitting: link.maximumFrameLength)
        let frame = try await open(
            [0x1D] + target.identifier + [0x00, sizeIndex, 0x01, cid ?? 0],
            timeout: target.frameWaitingTime + ISODEPParameters.waitingTolerance
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

    private func open(_ request: [UInt8], timeout: Airtime) async throws(LinkError) -> Frame {
        var failure = LinkError(.timeout, "The card does not answer.")
        for _ in 0..<Self.openingAttempts {
            do throws(LinkError) {
                return try await link.transceive(Frame(request), timeout: timeout)
            } catch {
                failure = error
                guard TagError(fatal: error) == nil else { throw error }
            }
        }
        throw failure
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

    /// A bit rate that can be selected with PPS (ISO/IEC 14443-4, 5.3).
    public enum BitRate: UInt8, Sendable, CaseIterable {
        case kbit106, kbit212, kbit424, kbit848

        /// Returns whether a card supports the rate in both directions, by TA(1) of its ATS.
        public func isSupported(by answer: AnswerToSelect) -> Bool {
            guard self != .kbit106 else { return true }
            let bit: UInt8 = 1 << (rawValue - 1)
            return answer.bitRates & bit != 0 && answer.bitRates & (bit << 4) != 0
        }
    }

    /// Switches a Type A card to another bit rate with PPS. Call it before the first command (ISO/IEC 14443-4, 5.3).
    ///
    /// When this returns, the caller must change the link's own rate. Don't call it for a link that stays at 106
    /// kbit/s. PPS takes about 1 ms, so it is worth it only from some tens of bytes on.
    ///
    /// - Parameter bitRate: the rate for both directions.
    /// - Throws: `LinkError` with `unsupported` when the card doesn't support the rate, `protocolViolation` when its
    ///   answer is wrong, and the errors of ``activate()``.
    public func select(bitRate: BitRate) async throws(LinkError) {
        try await activate()
        let activation = state.withLock { $0.activation }
        guard let answerToSelect, bitRate.isSupported(by: answerToSelect) else {
            throw LinkError(.unsupported, "The card does not offer that bit rate (ISO/IEC 14443-4, 5.2.4).")
        }
        let start: UInt8 = 0xD0 | (cid ?? 0)
        let frame: Frame
        do throws(LinkError) {
            frame = try await link.transceive(
                Frame([start, 0x11, bitRate.rawValue << 2 | bitRate.rawValue]),
                timeout: Airtime(carrierPeriods: 65536) + ISODEPParameters.waitingTolerance
            )
        } catch {
            // The card may have changed its bit rate.
            end(with: error, of: activation)
            throw error
        }
        guard frame.bytes == [start] else {
            let error = LinkError(.protocolViolation, "The answer to PPS does not repeat PPSS (ISO/IEC 14443-4, 5.4).")
            end(with: error, of: activation)
            throw error
        }
    }
}
