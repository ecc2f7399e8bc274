// SPDX-License-Identifier: Apache-2.0
public import TagLink

extension ISODEP {
    /// Begins ISO-DEP with a Type A card that is ACTIVE: RATS, and nothing else (ISO/IEC 14443-4, 5).
    ///
    /// The frame size offered is the largest that the link takes. The bit rate stays at 106 kbit/s: see
    /// ``select(bitRate:link:cid:)``. A start-up guard time that the card asks for is
    /// ``AnswerToSelect/startUpGuardTime``; a caller that needs it waits before the first command.
    ///
    /// - Parameters:
    ///   - link: the NFC-A link over which the card was selected.
    ///   - cid: a card identifier, 0 to 14, to have several cards active at once; nil goes without, as one octet less
    ///     is sent in every block.
    /// - Returns: the card, ready for APDUs.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer` when the ATS is malformed, `unsupported` when the card takes no
    ///   CID and one was asked for, `readerUnavailable`, `cancelled`.
    public static func activate(link: any FrameLink, cid: UInt8? = nil) async throws(TagError) -> ISODEP {
        let sizeIndex = ISODEPParameters.frameSizeIndex(fitting: link.maximumFrameLength)
        let answer = try await requestAnswerToSelect(link, parameter: sizeIndex << 4 | (cid ?? 0))
        guard cid == nil || answer.supportsCID else {
            throw TagError(.unsupported, "The card takes no card identifier (ISO/IEC 14443-4, 5.2.6).")
        }
        let parameters = ISODEPParameters(
            cardFrameSize: min(ISODEPParameters.frameSize(index: answer.frameSizeIndex), link.maximumFrameLength),
            readerFrameSize: ISODEPParameters.frameSize(index: sizeIndex),
            frameWaitingTime: ISODEPParameters.frameWaitingTime(index: answer.frameWaitingIndex),
            cid: cid
        )
        return ISODEP(link: link, parameters: parameters, answerToSelect: answer)
    }

    /// RATS, sent once more when it was not answered well (ISO/IEC 14443-4, 5.6.1.1).
    private static func requestAnswerToSelect(
        _ link: any FrameLink,
        parameter: UInt8
    ) async throws(TagError) -> AnswerToSelect {
        var failure = TagError(.tagLost, "The card does not answer RATS.")
        for _ in 0..<2 {
            let frame: Frame
            do throws(LinkError) {
                // The activation frame waiting time, 71,680/fc (NFC Forum Digital 2.3, 14.6.1.3).
                frame = try await link.transceive(Frame([0xE0, parameter]), timeout: Airtime(carrierPeriods: 71680))
            } catch {
                if let fatal = TagError(fatal: error) { throw fatal }
                failure = TagError(link: error)
                continue
            }
            return try AnswerToSelect(frame.bytes)
        }
        throw failure
    }

    /// A bit rate that PPS can choose (ISO/IEC 14443-4, 5.3).
    public enum BitRate: UInt8, Sendable, CaseIterable {
        case kbit106, kbit212, kbit424, kbit848

        /// Whether a card can do it in both directions, by TA(1) of its ATS.
        public func isSupported(by answer: AnswerToSelect) -> Bool {
            guard self != .kbit106 else { return true }
            let bit: UInt8 = 1 << (rawValue - 1)
            return answer.bitRates & bit != 0 && answer.bitRates & (bit << 4) != 0
        }
    }

    /// Asks a card for another bit rate with PPS, before the first command (ISO/IEC 14443-4, 5.3).
    ///
    /// The link has to change its own rate when this returns; for one that stays at 106 kbit/s, don't call it. PPS
    /// costs about 1 ms, so that it pays only from some tens of octets on.
    ///
    /// - Parameters:
    ///   - bitRate: the rate for both directions.
    ///   - link: the NFC-A link over which RATS was answered.
    ///   - cid: the card identifier that was given with RATS.
    /// - Throws: ``TagError`` with `badAnswer`, `tagLost`, `readerUnavailable`, `cancelled`.
    public static func select(bitRate: BitRate, link: any FrameLink, cid: UInt8? = nil) async throws(TagError) {
        let start: UInt8 = 0xD0 | (cid ?? 0)
        let rates = bitRate.rawValue << 2 | bitRate.rawValue
        let frame: Frame
        do throws(LinkError) {
            frame = try await link.transceive(
                Frame([start, 0x11, rates]),
                timeout: Airtime(carrierPeriods: 65536) + ISODEPParameters.waitingTolerance
            )
        } catch {
            throw TagError(link: error)
        }
        guard frame.bytes == [start] else {
            throw TagError(.badAnswer, "The answer to PPS does not repeat PPSS (ISO/IEC 14443-4, 5.4).")
        }
    }
}
