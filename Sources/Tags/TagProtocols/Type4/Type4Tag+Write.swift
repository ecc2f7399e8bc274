// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type4Tag {
    /// Writes an NDEF message. A tag that is lost between two commands holds the old message, no message, or the new
    /// one (NFC Forum T4T 1.2, 6.4).
    ///
    /// An MLc smaller than the size of NLEN is allowed, but does not occur in practice. Then a length of more than 255
    /// is incomplete between two commands.
    ///
    /// - Parameter message: the message's bytes; none to empty the tag.
    /// - Throws: ``TagError`` with `readOnly` and `messageTooLong` before anything is written, `updateFailed` when the
    ///   card refused, `tagLost`, and the errors of ``detectNDEF()``.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let container = try await readCapabilityContainer()
        let oldLength = try await readMessageLength(container, isForWriting: true)
        guard container.writeAccess == 0 else {
            throw TagError(.readOnly, "The capability container does not grant writing (NFC Forum T4T 1.2, 4.3).")
        }
        guard message.count <= container.capacity else {
            throw TagError(
                .messageTooLong,
                "The message has \(message.count) bytes, and the tag has room for \(container.capacity)."
            )
        }
        guard message.count <= Self.maximumMessageLength else {
            throw TagError(.messageTooLong, "The message is longer than \(Self.maximumMessageLength) bytes.")
        }
        try await selectMessageFile(container)
        let plan = Type4WritePlan(
            message,
            lengthSize: container.lengthSize,
            oldLength: oldLength,
            limit: { self.writeLimit(container, offset: $0) }
        )
        messageLength = nil
        messageStart = []
        for step in plan.steps { try await updateBinary(offset: step.offset, step.bytes) }
        messageLength = message.count
        messageStart = message
    }

    /// Returns the most bytes that one UPDATE BINARY writes: MLc or a short Lc, rounded down to whole blocks if
    /// possible.
    func writeLimit(_ container: Type4CapabilityContainer, offset: Int) -> Int {
        let most = min(container.maximumWrite, 255)
        guard offset <= CommandAPDU.maximumShortOffset else {
            return max(1, most - CommandAPDU.offsetDataObject(offset).count - CommandAPDU.discretionaryOverhead(most))
        }
        // A command that needs one more block for its last bytes takes more time than these bytes save.
        let header = 5
        let block = link.singleBlockCommandLength
        let blocks = (header + most) / block
        let whole = blocks > 0 ? blocks * block - header : most
        return min(whole, CommandAPDU.maximumShortOffset + 1 - offset)
    }

    /// Writes with UPDATE BINARY, with either kind of offset.
    func updateBinary(offset: Int, _ bytes: [UInt8]) async throws(TagError) {
        let status: StatusWord
        do throws(TagError) {
            status = try await send(.updateBinary(offset: offset, data: bytes)).status
        } catch {
            guard error.code == .badAnswer else { throw error }
            throw TagError(.updateFailed, error.reason, link: error.link)
        }
        guard status != .securityStatusNotSatisfied else {
            throw TagError(
                .keyNeeded,
                "A key is needed to write the file: UPDATE BINARY of \(bytes.count) bytes at \(offset) gave \(status)."
            )
        }
        guard status == .success else {
            throw TagError(
                .updateFailed,
                "UPDATE BINARY of \(bytes.count) bytes at \(offset) gave \(status) (NFC Forum T4T 1.2, 5.4)."
            )
        }
    }
}

/// The UPDATE BINARY commands for a message, in an order in which the card may be lost after any of them.
///
/// If length field and message fit in one command, that is the only one. Otherwise the first command writes a length of
/// 0 and the start of the message, the next ones write the rest, and the last one writes the length. After the first
/// command the tag is empty, and after the last it has the message (NFC Forum T4T 1.2, 6.4).
///
/// When MLc is shorter than the length field, writing the length takes several commands. A tag that is lost between
/// them has a length that is neither the old one, nor 0, nor the new one. The number of these moments is the number of
/// the field's significant bytes, minus one.
struct Type4WritePlan: Equatable {
    /// One UPDATE BINARY.
    struct Step: Equatable {
        var offset: Int
        var bytes: [UInt8]
    }

    let steps: [Step]

    /// Computes the plan for a message.
    ///
    /// - Parameters:
    ///   - message: the message; not longer than the capacity.
    ///   - lengthSize: the number of bytes in the length field.
    ///   - oldLength: the current length on the tag.
    ///   - limit: the most data bytes of a command at an offset.
    init(_ message: [UInt8], lengthSize: Int, oldLength: Int, limit: (Int) -> Int) {
        let length = Self.lengthField(message.count, size: lengthSize)
        if lengthSize + message.count <= limit(0) {
            steps = [Step(offset: 0, bytes: length + message)]
            return
        }
        var steps: [Step] = []
        if limit(0) < lengthSize {
            // Byte by byte, the most significant byte last. Bytes that need no change are left out.
            let old = Self.lengthField(oldLength, size: lengthSize)
            for index in old.indices.reversed() where old[index] != 0 { steps.append(Step(offset: index, bytes: [0])) }
            steps += Self.pieces(message, at: lengthSize, limit: limit)
            for index in length.indices.reversed() where length[index] != 0 {
                steps.append(Step(offset: index, bytes: [length[index]]))
            }
        } else {
            steps = Self.pieces([UInt8](repeating: 0, count: lengthSize) + message, at: 0, limit: limit)
            if !message.isEmpty { steps.append(Step(offset: 0, bytes: length)) }
        }
        self.steps = steps
    }

    /// Returns a length field, most significant byte first.
    private static func lengthField(_ length: Int, size: Int) -> [UInt8] {
        (0..<size).reversed().map { (index: Int) -> UInt8 in UInt8(truncatingIfNeeded: length >> (8 * index)) }
    }

    private static func pieces(_ bytes: [UInt8], at start: Int, limit: (Int) -> Int) -> [Step] {
        var steps: [Step] = []
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, position + max(1, limit(start + position)))
            steps.append(Step(offset: start + position, bytes: Array(bytes[position..<end])))
            position = end
        }
        return steps
    }
}
