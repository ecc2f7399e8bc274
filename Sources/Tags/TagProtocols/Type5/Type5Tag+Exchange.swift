// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Exchanges with the tag, and the commands for blocks.
extension Type5Tag {
    /// How often a command is repeated. All commands that are sent here may be repeated.
    static let retries = 2
    /// How long to wait for an answer after t1.
    static let answerTimeout = Airtime.milliseconds(1)
    /// How long a tag may take to program its memory (ISO/IEC 15693-3, 8.4.2: 20 ms).
    static let writeTimeout = Airtime.milliseconds(21)

    /// The outcome of a command.
    enum Answer {
        case bytes([UInt8])
        case refused(ISO15693ErrorCode)
        /// No answer: the tag is gone, or does not know the command. A tag that is addressed without its UID does not
        /// answer errors.
        case silent(LinkError)
    }

    /// Sends a command and repeats it until it is answered.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - parameters: the bytes after the UID.
    ///   - isWrite: whether the tag programs its memory.
    /// - Throws: ``TagError`` with `badAnswer`, `tagLost` when the reader reports it, `readerUnavailable`, `cancelled`.
    func exchange(
        _ command: ISO15693Command,
        _ parameters: [UInt8],
        isWrite: Bool = false
    ) async throws(TagError) -> Answer {
        if let lost { throw lost }
        var failure = LinkError(.timeout, "The tag does not answer.")
        var isAddressed = !isAlone || needsAddress
        for _ in 0...Self.retries {
            var flags: ISO15693RequestFlags = .highDataRate
            if isWrite, writesWithOption { flags.insert(.option) }
            let request = Frame(
                ISO15693Request.make(command, flags: flags, uid: isAddressed ? target.uid : nil, parameters)
            )
            // From here on, only this tag is addressed.
            isAddressed = true
            do throws(LinkError) {
                let answer = try await send(request, isWrite: isWrite)
                needsAddress = false
                switch try? ISO15693Response(answer) {
                case .success(let bytes): return .bytes(bytes)
                case .failure(let code): return .refused(code)
                case nil: throw LinkError(.protocolViolation, "A response has no flags (ISO/IEC 15693-3, 7.4).")
                }
            } catch {
                if let fatal = TagError(fatal: error) {
                    if fatal.code == .tagLost { lost = fatal }
                    throw fatal
                }
                failure = error
            }
        }
        guard failure.code == .timeout else {
            throw TagError(
                .badAnswer,
                "Answers were damaged \(Self.retries + 1) times (\(TagError.framingRule(.nfcV))).",
                link: failure
            )
        }
        return .silent(failure)
    }

    private func send(_ request: Frame, isWrite: Bool) async throws(LinkError) -> Frame {
        guard isWrite, writesWithOption else {
            return try await link.transceive(request, timeout: isWrite ? Self.writeTimeout : Self.answerTimeout)
        }
        do throws(LinkError) {
            return try await link.transceive(request, timeout: Self.writeTimeout)
        } catch {
            // The tag has programmed its memory, and answers after an EOF (ISO/IEC 15693-3, 10.4.2).
            guard error.code == .timeout else { throw error }
            let answer = try await link.transceive(Frame([], checksum: .none), timeout: Self.answerTimeout)
            // The link did not check this answer. If the checksum is still in it, a wrong one means damage.
            let (content, checksum) = (Array(answer.bytes.dropLast(2)), Array(answer.bytes.suffix(2)))
            guard answer.checksum != .none || content.isEmpty || link.technology.checksum(content) == checksum else {
                throw LinkError(.transmission, "The checksum of an answer to an EOF is wrong (ISO/IEC 15693-3, 7.2).")
            }
            return answer
        }
    }

    /// Converts an error, and records when the tag is lost.
    func loss(_ error: LinkError) -> TagError {
        let failure = TagError(link: error, over: .nfcV)
        if failure.code == .tagLost { lost = failure }
        return failure
    }

    /// Returns a block's address as it is sent, and whether it has two bytes.
    func address(_ block: Int) -> (bytes: [UInt8], isLong: Bool) {
        block < 256 ? ([UInt8(block)], false) : (UInt16(truncatingIfNeeded: block).littleEndianBytes, true)
    }

    /// Writes a block.
    ///
    /// - Throws: ``TagError`` with `updateFailed` when the tag refused; then the block's content is uncertain.
    func write(_ bytes: [UInt8], to block: Int) async throws(TagError) {
        // Until the tag confirms, this block and what is in it are uncertain.
        memory.forget(block)
        layout = nil
        let container = capabilityContainer
        if let container, block * blockSize < container.bytes.count { capabilityContainer = nil }
        let place = address(block)
        let command: ISO15693Command = place.isLong ? .extendedWriteSingleBlock : .writeSingleBlock
        switch try await program(command, place.bytes + bytes) {
        case .bytes:
            memory.store(bytes, at: block * blockSize)
            capabilityContainer = container
        case .refused(let code):
            throw TagError(.updateFailed, "The tag refused to write block \(block): \(code) (NFC Forum T5T 1.0, 5.3).")
        case .silent(let error): throw loss(error)
        }
    }

    /// Locks a block permanently. A block that is locked already is not an error.
    func lock(block: Int) async throws(TagError) {
        let place = address(block)
        let command: ISO15693Command = place.isLong ? .extendedLockBlock : .lockBlock
        switch try await program(command, place.bytes) {
        case .bytes: break
        case .refused(let code):
            guard code.rawValue != 0x11 else { break }
            throw TagError(.updateFailed, "The tag refused to lock block \(block): \(code) (NFC Forum T5T 1.0, 5.7).")
        case .silent(let error): throw loss(error)
        }
    }

    /// Sends a command that programs the memory, with the option flag if the tag requires it.
    private func program(_ command: ISO15693Command, _ parameters: [UInt8]) async throws(TagError) -> Answer {
        do throws(TagError) {
            let answer = try await exchange(command, parameters, isWrite: true)
            guard case .refused(let code) = answer, code.rawValue == 0x03 else { return answer }
            // The tag does not support the option flag, or requires it.
            writesWithOption.toggle()
            return try await exchange(command, parameters, isWrite: true)
        } catch {
            guard error.code == .badAnswer else { throw error }
            throw TagError(.updateFailed, error.reason, link: error.link)
        }
    }
}
