// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 3 tag from the reader's side: FeliCa Lite-S, FeliCa Standard and their like (NFC Forum T3T 1.0).
///
/// ```swift
/// let answers = try await NFCFPolling(link: link).poll(systemCode: NFCFTarget.ndefSystemCode)
/// if let answer = answers.first {
///     let message = try await Type3Tag(target: answer.target, link: link).readNDEF()
/// }
/// ```
///
/// A FeliCa Lite-S whose blocks want authentication or codes refuses, and says so, until ``authenticate(cardKey:)``.
public final class Type3Tag: ForumTag {
    /// The tag's platform: always Type 3.
    public var type: ForumTagType { .type3 }

    /// The link over which the tag is reached.
    public let link: any FrameLink

    /// The tag as polling found it. When it was polled for another system, detection polls for 12FC and puts what it
    /// finds here.
    public internal(set) var target: NFCFTarget

    /// The attribute information block, when it has been read and is good.
    var attributes: Type3AttributeBlock?
    /// What has been read of the message.
    var message: [UInt8]?
    /// The session with a FeliCa Lite-S whose key is known.
    var session: FeliCaLiteSSession?
    /// The error that every procedure ends with once the tag is lost.
    var lost: TagError?

    /// The services of NDEF tags: reading without encryption (NFC Forum T3T 1.0, 5.4).
    static let readService: UInt16 = 0x000B
    /// Reading and writing without encryption (NFC Forum T3T 1.0, 5.5).
    static let writeService: UInt16 = 0x0009

    /// Takes over a tag.
    ///
    /// - Parameters:
    ///   - target: the tag as polling found it, best for system 12FC.
    ///   - link: the NFC-F link over which it was found.
    public init(target: NFCFTarget, link: any FrameLink) {
        self.target = target
        self.link = link
    }

    /// Takes it that the tag answers again. What was read of it stays good; an authentication does not.
    public func wasActivated() {
        lost = nil
        session = nil
    }

    public func forgetMemory() {
        attributes = nil
        message = nil
    }

    /// Says whether the tag still answers.
    ///
    /// A FeliCa Standard card is asked for its mode, which it keeps: Request Response is there for this, and takes less
    /// than half the airtime of polling (FeliCa Card User's Manual, 4.4.4). FeliCa Lite and Lite-S do not have the
    /// command; they, and cards that do not answer it, are polled for their system.
    ///
    /// - Returns: false when the tag is gone or another one is in its place.
    public func isPresent() async -> Bool {
        if !target.isLite, await answersRequestResponse() { return true }
        if let link = link as? any SelfActivatingLink { return (try? await link.reactivate()) != nil }
        let polling = NFCFPolling(link: link)
        for timeSlots in Self.timeSlots {
            let answers = try? await polling.poll(
                systemCode: target.systemCode ?? NFCFTarget.anySystemCode,
                request: .none,
                timeSlots: timeSlots
            )
            if let answers, answers.contains(where: { $0.target.idm == target.idm }) { return true }
        }
        return false
    }

    /// Asks once: a card that is silent may not know the command.
    private func answersRequestResponse() async -> Bool {
        let command = Frame(FeliCaCommand.requestResponse(idm: target.idm))
        let timeout = min(target.maximumResponseTime(.fixed, count: 0), .milliseconds(20)) + FeliCaCard.tolerance
        guard let answer = try? await link.transceive(command, timeout: timeout).bytes else { return false }
        return answer.count == 11 && answer[1] == 0x05 && answer[2..<10] == target.idm[...]
    }

    /// The slots of polls in a row: one for a tag that is alone, more for one that is not.
    static let timeSlots: [UInt8] = [0, 3, 15]

    /// The tag as a card that takes commands.
    var card: FeliCaCard { FeliCaCard(link: link, target: target) }

    /// Reads blocks that lie one after the other.
    ///
    /// - Throws: ``TagError`` with `refused` when the tag answers with status flags.
    func check(_ blocks: Range<Int>) async throws(TagError) -> [UInt8] {
        if let lost { throw lost }
        if let session {
            do throws(TagError) {
                return try await check(blocks, in: session)
            } catch {
                throw remember(error)
            }
        }
        let elements = blocks.map { FeliCaCommand.BlockElement(block: UInt16(truncatingIfNeeded: $0)) }
        let result: Result<[UInt8], FeliCaCard.Status>
        do throws(TagError) {
            result = try await card.read(services: [Self.readService], blocks: elements)
        } catch {
            throw remember(error)
        }
        switch result {
        case .success(let octets): return octets
        case .failure(let status):
            throw TagError(
                .refused,
                "CHECK of blocks \(blocks.lowerBound) to \(blocks.upperBound - 1) gave \(status) (NFC Forum T3T 1.0, 5.4)."
            )
        }
    }

    /// Writes blocks that lie one after the other.
    ///
    /// - Throws: ``TagError`` with `updateFailed` when the tag answers with status flags.
    func update(_ first: Int, _ octets: [UInt8]) async throws(TagError) {
        if let lost { throw lost }
        if let session {
            do throws(TagError) {
                return try await update(first, octets, in: session)
            } catch {
                throw remember(error)
            }
        }
        let count = octets.count / Type3AttributeBlock.blockSize
        let elements = (first..<first + count).map {
            FeliCaCommand.BlockElement(block: UInt16(truncatingIfNeeded: $0))
        }
        let status: FeliCaCard.Status
        do throws(TagError) {
            status = try await card.write(services: [Self.writeService], blocks: elements, data: octets)
        } catch {
            let error = remember(error)
            guard error.code == .badAnswer else { throw error }
            throw TagError(.updateFailed, error.reason, link: error.link)
        }
        guard status.isSuccess else {
            throw TagError(
                .updateFailed,
                "UPDATE of blocks \(first) to \(first + count - 1) gave \(status) (NFC Forum T3T 1.0, 5.5)."
            )
        }
    }

    func remember(_ error: TagError) -> TagError {
        if error.code == .tagLost { lost = error }
        return error
    }
}

extension Type3Tag {
    /// Block 88 of a FeliCa Lite or Lite-S, the memory configuration; nil where the tag keeps it back.
    package func readMemoryConfiguration() async throws(TagError) -> [UInt8]? {
        try await register(FeliCaLite.memoryConfiguration)
    }

    /// Block 90 of a FeliCa Lite-S, how often it was written; nil where the tag keeps it back.
    package func readWriteCounter() async throws(TagError) -> UInt32? {
        try await register(FeliCaLite.writeCounter).map { UInt32(octets: $0.prefix(3).reversed()) }
    }

    private func register(_ block: Int) async throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            return try await check(block..<block + 1)
        } catch {
            guard error.code == .refused || error.code == .badAnswer else { throw error }
            return nil
        }
    }
}
