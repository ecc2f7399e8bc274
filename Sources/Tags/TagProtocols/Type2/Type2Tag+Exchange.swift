// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Exchanges with the tag: retries, reactivation and checks of the answers.
extension Type2Tag {
    /// The 4-bit answer that confirms a command.
    static let acknowledge: UInt8 = 0x0A
    /// How often a command is repeated. All Type 2 commands that are sent here may be repeated.
    static let retries = 2
    /// How long to wait after the second part of SECTOR SELECT. The tag confirms it by not answering (NFC Forum T2T
    /// 1.2, 5.4).
    static let passiveAcknowledgeTime = Airtime.milliseconds(1)

    /// The outcome of a command that the tag answered.
    enum Answer {
        case bytes([UInt8])
        /// The tag refused with these four bits, and is now in the IDLE or HALT state.
        case refused(UInt8)
    }

    /// Sends a command and repeats it until it is answered.
    ///
    /// After a damaged answer the command is sent again. After a timeout, and after a NAK that reports a damaged
    /// command, the tag is first woken and selected by its UID.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - retries: how often it is repeated.
    /// - Returns: the answer, with the length that belongs to the command, or the tag's refusal.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer` and the rule that the tag broke, `cancelled`,
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
                    // The tag is either gone, or present and never answers this command. Only the former ends its use.
                    try await activate()
                    throw TagError(
                        .badAnswer,
                        "The tag is there, but does not answer \(command.name) (\(command.rule)).",
                        link: error
                    )
                case .transmission, .collision:
                    // The tag may have confirmed already and wait for the sector number: start again.
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
                    // A frame that the reader can't send has not reached the tag.
                    if error.code != .unsupported, error.code != .frameTooLong { isActive = false }
                    throw TagError(link: error)
                }
            }
            if let nibble = frame.nibble, nibble != Self.acknowledge {
                isActive = false
                failures += 1
                // NAK 1: the command's parity or checksum was wrong when it arrived.
                if nibble == 1, failures <= retries { continue }
                return .refused(nibble)
            }
            return .bytes(try check(frame, command))
        }
    }

    /// Checks that an answer has the length that belongs to the command.
    private func check(_ frame: Frame, _ command: Type2Command) throws(TagError) -> [UInt8] {
        if command.answerLength == 0, frame.nibble == Self.acknowledge { return [] }
        guard command.answerLength > 0, frame.validBitsInLastByte == 8, frame.bytes.count == command.answerLength else {
            // The tag's state after such an answer is unknown.
            isActive = false
            let wanted = command.answerLength == 0 ? "a 4-bit ACK" : "\(command.answerLength) bytes"
            throw TagError(
                .badAnswer,
                "The answer to \(command.name) has \(frame.bitCount) bits and has to be \(wanted) (\(command.rule))."
            )
        }
        return frame.bytes
    }

    /// Makes sure that the tag is ACTIVE, as far as these procedures know: it is not after it refused their last command.
    package func activate() async throws(TagError) {
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

    /// Selects a sector (NFC Forum T2T 1.2, 5.4). Both parts take time, so pages are read and written in order.
    private func selectSector(_ wanted: Int) async throws(TagError) {
        for attempt in 0...Self.retries {
            guard case .bytes = try await exchange(.sectorSelect) else {
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
                // NAK 1: the number arrived damaged. The sector may exist.
                guard answer.nibble == 1 else { break }
            } catch {
                if error.code == .timeout {
                    sector = wanted
                    return
                }
                // Noise instead of silence leaves the sector unknown. It is known again after the tag was selected
                // again.
                isActive = false
                if TagError(fatal: error) != nil || attempt == Self.retries {
                    let failure = TagError(link: error, over: .nfcA)
                    if failure.code == .tagLost { lost = failure }
                    throw failure
                }
            }
        }
        throw TagError(
            .lengthOverrun,
            "The tag refuses to select sector \(wanted), in which its data area lies (NFC Forum T2T 1.2, 5.4)."
        )
    }
}
