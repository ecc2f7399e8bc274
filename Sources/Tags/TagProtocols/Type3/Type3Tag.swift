// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 3 tag from the reader's side: FeliCa Lite-S, FeliCa Standard and similar (NFC Forum T3T 1.0).
///
/// ```swift
/// let answers = try await NFCFPolling(link: link).poll(systemCode: NFCFTarget.ndefSystemCode)
/// if let answer = answers.first {
///     let message = try await Type3Tag(target: answer.target, link: link).readNDEF()
/// }
/// ```
///
/// A FeliCa Lite-S whose blocks require authentication or MACs refuses until ``authenticate(cardKey:)`` was called.
public final class Type3Tag: ForumTag {
    /// The tag's type: always Type 3.
    public var type: ForumTagType { .type3 }

    /// The link to the tag.
    public let link: any FrameLink

    /// The tag as polling found it. When it was found by another system, detection polls for 12FC and updates this
    /// property.
    public internal(set) var target: NFCFTarget

    /// The attribute information block, once it was read and checked.
    var attributes: Type3AttributeBlock?
    /// The message, once it was read.
    var message: [UInt8]?
    /// The session with a FeliCa Lite-S whose key is known.
    var session: FeliCaLiteSSession?
    /// The error that every procedure throws once the tag is lost.
    var lost: TagError?

    /// The service of NDEF tags for reading without encryption (NFC Forum T3T 1.0, 5.4).
    static let readService: UInt16 = 0x000B
    /// The service for reading and writing without encryption (NFC Forum T3T 1.0, 5.5).
    static let writeService: UInt16 = 0x0009

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - target: the tag as polling found it, preferably for system 12FC.
    ///   - link: the NFC-F link that it was found over.
    public init(target: NFCFTarget, link: any FrameLink) {
        self.target = target
        self.link = link
    }

    /// Marks the tag as answering again. The cached memory stays valid; an authentication does not.
    public func wasActivated() {
        lost = nil
        session = nil
    }

    public func forgetMemory() {
        attributes = nil
        message = nil
    }

    /// Returns whether the tag still answers.
    ///
    /// A FeliCa Standard card gets Request Response. This command is intended for it and takes less than half the
    /// airtime of polling (FeliCa Card User's Manual, 4.4.4). FeliCa Lite and Lite-S do not have the command. They, and
    /// cards that do not answer it, are polled for their system.
    ///
    /// - Returns: false when the tag is gone or another tag is in its place.
    public func isPresent() async -> Bool {
        guard lost == nil else { return false }
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

    /// Sends Request Response only once, because a card that does not answer may not have the command.
    private func answersRequestResponse() async -> Bool {
        let command = Frame(FeliCaCommand.requestResponse(idm: target.idm))
        let timeout = min(target.maximumResponseTime(.fixed, count: 0), .milliseconds(20)) + FeliCaCard.tolerance
        guard let answer = try? await link.transceive(command, timeout: timeout).bytes else { return false }
        return answer.count == 11 && answer[1] == 0x05 && answer[2..<10] == target.idm[...]
    }

    /// The time slots of consecutive polls: one slot for a tag that is alone, more when there are others.
    static let timeSlots: [UInt8] = [0, 3, 15]

    /// The tag as a card for FeliCa commands.
    var card: FeliCaCard { FeliCaCard(link: link, target: target) }

    /// Reads consecutive blocks.
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
        case .success(let bytes): return bytes
        case .failure(let status):
            throw TagError(
                .refused,
                "CHECK of blocks \(blocks.lowerBound) to \(blocks.upperBound - 1) gave \(status) (NFC Forum T3T 1.0, 5.4)."
            )
        }
    }

    /// Writes consecutive blocks.
    ///
    /// - Throws: ``TagError`` with `updateFailed` when the tag answers with status flags.
    func update(_ first: Int, _ bytes: [UInt8]) async throws(TagError) {
        if let lost { throw lost }
        if let session {
            do throws(TagError) {
                return try await update(first, bytes, in: session)
            } catch {
                throw remember(error)
            }
        }
        let count = bytes.count / Type3AttributeBlock.blockSize
        let elements = (first..<first + count).map {
            FeliCaCommand.BlockElement(block: UInt16(truncatingIfNeeded: $0))
        }
        let status: FeliCaCard.Status
        do throws(TagError) {
            status = try await card.write(services: [Self.writeService], blocks: elements, data: bytes)
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
    /// Reads block 88 of a FeliCa Lite or Lite-S, the memory configuration; nil when the tag does not let it be read.
    package func readMemoryConfiguration() async throws(TagError) -> [UInt8]? {
        try await register(FeliCaLite.memoryConfiguration)
    }

    /// Reads block 90 of a FeliCa Lite-S, the write counter; nil when the tag does not let it be read.
    package func readWriteCounter() async throws(TagError) -> UInt32? {
        try await register(FeliCaLite.writeCounter).map { UInt32(bytes: $0.prefix(3).reversed()) }
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
