// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type3Tag {
    /// Runs the NDEF detection procedure: polls for system 12FC if the tag was found by another one, then reads block 0
    /// with CHECK (NFC Forum T3T 1.0, 6.4.1).
    ///
    /// WriteF with a length other than 0 means that a write was interrupted. Then the error is `writeInProgress`, but
    /// the tag can be written. WriteF with a length of 0 counts as an empty tag.
    ///
    /// - Returns: the result. A second call makes no exchange.
    /// - Throws: ``TagError`` with `noCapabilityContainer` when the tag has no NDEF system or no attribute block,
    ///   `badChecksum`, `badVersion`, `lengthOverrun`, `writeInProgress`, `tagLost`, `badAnswer`, `cancelled`.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let attributes = try await readAttributes()
        try attributes.checkLength()
        guard !attributes.isTorn else {
            throw TagError(
                .writeInProgress,
                "WriteF is on: an earlier write was cut off, and the message can't be trusted (NFC Forum T3T 1.0, 6.4.2)."
            )
        }
        return NDEFDetection(
            access: attributes.isWritable ? .readWrite : .readOnly,
            capacity: attributes.capacity,
            messageLength: attributes.messageLength
        )
    }

    /// Reads the NDEF message, Nbr blocks at a time (NFC Forum T3T 1.0, 6.4.1).
    ///
    /// - Returns: the message's bytes; empty when the tag is empty.
    /// - Throws: the errors of ``detectNDEF()``, and `refused` when the tag does not let blocks be read.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let length = try await detectNDEF().messageLength
        if let message { return message }
        guard let attributes else { return [] }
        let size = Type3AttributeBlock.blockSize
        let end = 1 + (length + size - 1) / size
        let most = min(attributes.blocksPerRead, maximumBlocksPerRead)
        var bytes: [UInt8] = []
        var block = 1
        while block < end {
            let next = min(end, block + most)
            bytes += try await check(block..<next)
            block = next
        }
        let read = Array(bytes.prefix(length))
        message = read
        return read
    }

    /// Reads and checks the attribute block.
    func readAttributes() async throws(TagError) -> Type3AttributeBlock {
        if let lost { throw lost }
        if let attributes { return attributes }
        try await selectSystem()
        let bytes: [UInt8]
        do throws(TagError) {
            bytes = try await check(0..<1)
        } catch {
            guard error.code == .refused else { throw error }
            throw TagError(.noCapabilityContainer, "The attribute block can't be read: \(error.reason)")
        }
        let read = try Type3AttributeBlock(bytes)
        attributes = read
        return read
    }

    /// Polls for system 12FC when the tag was found by another system.
    private func selectSystem() async throws(TagError) {
        guard target.systemCode != NFCFTarget.ndefSystemCode else { return }
        let polling = NFCFPolling(link: link)
        for timeSlots in Self.timeSlots {
            let answers: [NFCFPolling.Answer]
            do throws(TagError) {
                answers = try await polling.poll(
                    systemCode: NFCFTarget.ndefSystemCode,
                    request: .none,
                    timeSlots: timeSlots
                )
            } catch {
                throw remember(error)
            }
            if let answer = answers.first(where: { target.isOfSameCard(as: $0.target) }) {
                target = answer.target
                return
            }
        }
        throw TagError(
            .noCapabilityContainer,
            "The tag does not answer to polling for system 12FC (NFC Forum T3T 1.0, 6.4.1)."
        )
    }

    /// The number of blocks in an answer to CHECK: 15 by the standard, fewer when the reader's frames are short.
    var maximumBlocksPerRead: Int {
        max(1, min(15, (link.maximumFrameLength - 2 - 13) / Type3AttributeBlock.blockSize))
    }
}
