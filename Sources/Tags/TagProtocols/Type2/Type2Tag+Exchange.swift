// SPDX-License-Identifier: Apache-2.0
import TagLink

/// One exchange with the tag: retries, reactivation, answers checked.
extension Type2Tag {
    /// The 4-bit answer that means that a command was done.
    static let acknowledge: UInt8 = 0x0A
    /// How often a command is tried again. All commands of a Type 2 tag that are sent here may be repeated.
    static let retries = 2
    /// How long the tag is silent after the second part of SECTOR SELECT, which is how it agrees
    /// (NFC Forum T2T 1.2, 5.4).
    static let passiveAcknowledgeTime = Airtime.milliseconds(1)

    /// What came of a command that the tag took or refused.
    enum Answer {
        case octets([UInt8])
        /// The tag refused with these four bits, and is IDLE or halted now.
        case refused(UInt8)
    }

    /// Sends a command until it is answered.
    ///
    /// A damaged answer is asked for again. After a time-out, and after a NAK that says that the command arrived
    /// damaged, the tag is woken and selected by its UID first.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - retries: how often it is tried again.
    /// - Returns: the answer, of the length that the command has, or the tag's refusal.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer` naming the rule that the tag broke, `cancelled`,
    ///   `readerUnavailable`, `unsupported`.
    func exchange(_ command: Type2Command, retries: Int = Type2Tag.retries) async throws(TagError) -> Answer {
        if let lost { throw lost }
        var failures = 0
        while true {
            try await activate()
            if let wanted = command.sector, wanted != sector { try await selectSector(wanted) }
            let frame: Frame
            do throws(LinkError) {
                frame = try await link.transceive(command.frame, timeout: command.timeout)
            } catch {
                failures += 1
                switch error.code {
                case .timeout:
                    isActive = false
                    guard failures > retries else { continue }
                    // Gone, or there and never answering this? Only the former ends the tag's use.
                    try await activate()
                    throw TagError(
                        .badAnswer,
                        "The tag is there, but does not answer \(command.name) (\(command.rule)).",
                        link: error
                    )
                case .transmission, .collision:
                    // The tag may have agreed already and wait for the number of a sector: begin anew.
                    if case .sectorSelect = command { isActive = false }
                    guard failures > retries else { continue }
                    throw TagError(
                        .badAnswer,
                        "The answer to \(command.name) was damaged \(failures) times (\(TagError.framingRule(.nfcA))).",
                        link: error
                    )
                case .tagRemoved:
                    let failure = TagError(link: error)
                    lost = failure
                    throw failure
                default:
                    // What the reader can't send has not reached the tag.
                    if error.code != .unsupported { isActive = false }
                    throw TagError(link: error)
                }
            }
            if let nibble = frame.nibble, nibble != Self.acknowledge {
                isActive = false
                failures += 1
                // NAK 1: parity or checksum of the command was wrong when it arrived.
                if nibble == 1, failures <= retries { continue }
                return .refused(nibble)
            }
            return .octets(try check(frame, command))
        }
    }

    /// Checks an answer's length against the command's.
    private func check(_ frame: Frame, _ command: Type2Command) throws(TagError) -> [UInt8] {
        if command.answerLength == 0, frame.nibble == Self.acknowledge { return [] }
        guard command.answerLength > 0, frame.validBitsInLastByte == 8, frame.bytes.count == command.answerLength else {
            // What state the tag is in after such an answer is anybody's guess.
            isActive = false
            let wanted = command.answerLength == 0 ? "a 4-bit ACK" : "\(command.answerLength) octets"
            throw TagError(
                .badAnswer,
                "The answer to \(command.name) has \(frame.bitCount) bits and has to be \(wanted) (\(command.rule))."
            )
        }
        return frame.bytes
    }

    /// Makes sure that the tag is ACTIVE.
    func activate() async throws(TagError) {
        guard !isActive else { return }
        do throws(TagError) {
            try await NFCAActivation(link: link).reactivate(target)
        } catch {
            if error.code == .tagLost { lost = error }
            throw error
        }
        isActive = true
        sector = 0
    }

    /// Selects a sector (NFC Forum T2T 1.2, 5.4). Both parts cost time, so that pages are visited in their order.
    private func selectSector(_ wanted: Int) async throws(TagError) {
        for attempt in 0...Self.retries {
            guard case .octets = try await exchange(.sectorSelect) else {
                throw TagError(
                    .lengthOverrun,
                    """
                    The capability container gives an area in sector \(wanted), but the tag has no SECTOR SELECT (NFC \
                    Forum T2T 1.2, 5.4).
                    """
                )
            }
            do throws(LinkError) {
                let number = Frame([UInt8(wanted), 0, 0, 0])
                let answer = try await link.transceive(number, timeout: Self.passiveAcknowledgeTime)
                isActive = false
                // NAK 1: the number arrived damaged, which says nothing of the sector.
                guard answer.nibble == 1 else { break }
            } catch {
                if error.code == .timeout {
                    sector = wanted
                    return
                }
                // Noise in place of silence says nothing; the sector is certain again once the tag is selected anew.
                isActive = false
                if TagError(fatal: error) != nil || attempt == Self.retries { throw TagError(link: error, over: .nfcA) }
            }
        }
        throw TagError(
            .lengthOverrun,
            "The tag refuses to select sector \(wanted), in which its data area lies (NFC Forum T2T 1.2, 5.4)."
        )
    }
}
