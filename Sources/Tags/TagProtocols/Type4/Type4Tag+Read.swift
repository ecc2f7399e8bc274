// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type4Tag {
    /// Reads the NDEF message (NFC Forum T4T 1.2, 6.3).
    ///
    /// - Returns: the message's bytes; empty when the tag is empty. Bytes that detection has read are not read again.
    /// - Throws: the errors of ``detectNDEF()``, and `badAnswer` when the card returns fewer bytes than the file has.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let length = try await detectNDEF().messageLength
        guard let container = capabilityContainer, messageStart.count < length else { return messageStart }
        try await selectMessageFile(container)
        var shortAnswers = 0
        while messageStart.count < length {
            let offset = container.lengthSize + messageStart.count
            let wanted = min(length - messageStart.count, readLimit(container, offset: offset))
            let bytes = try await readBinary(offset: offset, count: wanted)
            if bytes.count < wanted { shortAnswers += 1 }
            guard !bytes.isEmpty, shortAnswers <= Self.maximumShortAnswers else {
                throw TagError(
                    .badAnswer,
                    "READ BINARY brought \(bytes.count) of \(wanted) bytes inside the file (NFC Forum T4T 1.2, 5.3)."
                )
            }
            messageStart += bytes
        }
        return messageStart
    }

    /// How many answers to READ BINARY may be shorter than requested in one message.
    static let maximumShortAnswers = 8

    /// Returns the most bytes that one READ BINARY requests: MLe, and no more than fits in one block.
    func readLimit(_ container: Type4CapabilityContainer, offset: Int) -> Int {
        // A short Le allows up to 256. The code 00 for 256 is not used, because some cards fail on it.
        let limit = min(container.maximumRead, link.singleBlockResponseLength - 2, 255)
        guard offset > CommandAPDU.maximumShortOffset else {
            // A command does not cross the offset where the commands change.
            return max(1, min(limit, CommandAPDU.maximumShortOffset + 1 - offset))
        }
        return max(1, limit - CommandAPDU.discretionaryOverhead(limit))
    }

    /// Reads with READ BINARY, with either kind of offset.
    ///
    /// - Returns: the bytes, not more than requested.
    func readBinary(offset: Int, count: Int) async throws(TagError) -> [UInt8] {
        guard offset <= CommandAPDU.maximumOffset else {
            throw TagError(.unsupported, "Offset \(offset) is beyond what an offset data object holds.")
        }
        let response = try await send(.readBinary(offset: offset, count: count))
        guard response.status == .success || response.status == .endOfFile else {
            throw TagError(
                .refused,
                "READ BINARY of \(count) bytes at \(offset) gave \(response.status) (NFC Forum T4T 1.2, 5.3)."
            )
        }
        var data = response.data
        if offset > CommandAPDU.maximumShortOffset {
            guard let inner = CommandAPDU.discretionaryData(data) else {
                throw TagError(
                    .badAnswer,
                    "The answer to READ BINARY with an offset data object has no data object 53 (ISO/IEC 7816-4, 11.3.3)."
                )
            }
            data = inner
        }
        guard data.count <= count else {
            throw TagError(
                .badAnswer,
                "READ BINARY brought \(data.count) bytes, more than the \(count) of Le (ISO/IEC 7816-4, 5.1)."
            )
        }
        return data
    }
}
