// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Finds NFC-B cards with raw frames: REQB or WUPB, slots, HLTB (ISO/IEC 14443-3, 7). ``ISODEP`` sends ATTRIB.
public struct NFCBActivation: Sendable {
    /// The link to the field.
    public let link: any FrameLink

    /// The longest time until a card starts its ATQB: the maximum of TR0 and TR1, plus the reader's tolerance (ISO/IEC
    /// 14443-3, 7.1.6).
    static let answerTimeout = Airtime(carrierPeriods: 7680)

    /// The number of tries with the maximum number of slots while cards collide.
    static let attempts = 3

    /// Creates the procedure for an NFC-B link.
    public init(link: any FrameLink) { self.link = link }

    /// Finds every card in the field. Afterwards all of them wait for ATTRIB or HLTB.
    ///
    /// A single card takes one exchange. When cards collide, rounds with 2, 4, 8 and 16 slots follow, until each card
    /// has answered in its own slot.
    ///
    /// - Parameters:
    ///   - applicationFamily: AFI; 0 for every card.
    ///   - waking: whether to wake halted cards too (WUPB).
    ///   - limit: the number of cards after which the search ends.
    /// - Returns: the cards in the order of discovery; empty when no card answers.
    /// - Throws: ``TagError`` with `readerUnavailable`, `unsupported`, `cancelled`.
    public func findAll(
        applicationFamily: UInt8 = 0,
        waking: Bool = false,
        limit: Int = 16
    ) async throws(TagError) -> [NFCBTarget] {
        var found: [NFCBTarget] = []
        var slotIndex: UInt8 = 0
        var failures = 0
        while found.count < limit {
            let round = try await round(applicationFamily, waking, slotIndex)
            for target in round.targets where found.count < limit {
                if !found.contains(where: { $0.identifier == target.identifier }) { found.append(target) }
            }
            guard round.isCrowded else { break }
            // Rounds with 16 slots may repeat: the cards choose new slots each time. Cards already found answer too.
            if slotIndex == 4 { failures += 1 }
            guard failures < Self.attempts else { break }
            slotIndex = min(4, slotIndex + 1)
        }
        return found
    }

    /// Halts a card that waits for ATTRIB. Afterwards the card answers only WUPB (ISO/IEC 14443-3, 7.12: HLTB).
    ///
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `readerUnavailable`, `cancelled`.
    public func halt(_ target: NFCBTarget) async throws(TagError) {
        let answer: Frame
        do throws(LinkError) {
            answer = try await link.transceive(Frame([0x50] + target.identifier), timeout: Self.answerTimeout)
        } catch {
            throw TagError(link: error, over: .nfcB)
        }
        guard answer.bytes == [0x00] else {
            throw TagError(.badAnswer, "The answer to HLTB is not 00 (ISO/IEC 14443-3, 7.12).")
        }
    }

    /// Sends one REQB and collects the answers in its slots.
    private func round(
        _ family: UInt8,
        _ waking: Bool,
        _ slotIndex: UInt8
    ) async throws(TagError) -> (targets: [NFCBTarget], isCrowded: Bool) {
        var targets: [NFCBTarget] = []
        var isCrowded = false
        for slot in 0..<UInt8(1 << slotIndex) {
            let parameter: UInt8 = slotIndex | (waking ? 0x08 : 0)
            let request = slot == 0 ? Frame([0x05, family, parameter]) : Frame([slot << 4 | 0x05])
            do throws(LinkError) {
                let answer = try await link.transceive(request, timeout: Self.answerTimeout)
                do throws(TagError) {
                    targets.append(try NFCBTarget(answer.bytes))
                } catch {
                    // An answer that isn't an ATQB is treated as damaged.
                    isCrowded = true
                }
            } catch {
                if let failure = TagError(fatal: error) { throw failure }
                // Cards that answer at the same time damage each other's answers.
                if error.code != .timeout { isCrowded = true }
            }
        }
        return (targets, isCrowded)
    }
}

/// The data that an NFC-B card sends in its ATQB (ISO/IEC 14443-3, 7.9).
public struct NFCBTarget: Sendable, Hashable {
    /// PUPI: four bytes that identify the card. They are often random.
    public var identifier: [UInt8]
    /// Application data, four bytes: AFI, CRC_B of the application identifiers, number of applications.
    public var applicationData: [UInt8]
    /// Three bytes, or four in an extended ATQB: bit rates; frame size and protocol; frame waiting time and options.
    public var protocolInfo: [UInt8]

    /// Reads an ATQB: 50, PUPI, application data and protocol info, without checksum: 12 or 13 bytes.
    ///
    /// - Throws: ``TagError`` with `badAnswer`.
    public init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count == 12 || bytes.count == 13, bytes[0] == 0x50 else {
            throw TagError(.badAnswer, "The ATQB is not 50 followed by 11 or 12 bytes (ISO/IEC 14443-3, 7.9).")
        }
        self.identifier = Array(bytes[1..<5])
        self.applicationData = Array(bytes[5..<9])
        self.protocolInfo = Array(bytes[9...])
    }

    /// Whether the card supports ISO-DEP.
    public var isISODEP: Bool { protocolInfo[1] & 0x01 != 0 }
    /// Whether the application data use a proprietary coding (ISO/IEC 14443-3, 7.9.4.6: ADC).
    public var hasProprietaryApplicationData: Bool { protocolInfo[2] & 0x0C == 0 }
    /// Whether blocks may have a card identifier.
    public var supportsCID: Bool { protocolInfo[2] & 0x01 != 0 }
    /// The longest frame that the card accepts, with its checksum.
    public var maximumFrameSize: Int { ISODEPParameters.frameSize(index: protocolInfo[1] >> 4) }
    /// The longest time until the card starts an answer.
    public var frameWaitingTime: Airtime { ISODEPParameters.frameWaitingTime(index: protocolInfo[2] >> 4) }
}
