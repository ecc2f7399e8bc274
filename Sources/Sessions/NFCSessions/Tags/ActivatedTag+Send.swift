// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

extension ActivatedTag {
    /// Sends an app's own packet.
    ///
    /// - Parameters:
    ///   - packet: the bytes, see ``TagPacket``.
    ///   - source: the reader that activated the tag.
    /// - Returns: the answer; empty when none is expected.
    /// - Throws: ``TagError`` with `tagLost` when the tag has left, `badAnswer` when it is near but did not answer or
    ///   its answer could not be read, `unsupported`, `readerUnavailable`, `cancelled`.
    func send(_ packet: TagPacket, from source: any TagSource) async throws(TagError) -> [UInt8] {
        // A Type 2 tag sleeps after it refused a command of a procedure.
        try await type2?.activate()
        // The packet may change what the procedures have read, or select another application or file.
        forumTag?.forgetMemory()
        do throws(LinkError) {
            if let card { return try await card.transmit(packet.bytes) }
            return try await exchange(packet)
        } catch {
            switch error.code {
            case .timeout, .transmission, .collision:
                if packet.answer == .none { return [] }
                throw await source.checkPresence(self)
                    ? TagError(.badAnswer, "The tag is there and did not answer the command.", link: error)
                    : TagError(.tagLost, "The tag does not answer any more.", link: error)
            case .tagRemoved: throw TagError(.tagLost, error.reason, link: error)
            case .frameTooLong, .unsupported: throw TagError(.unsupported, error.reason, link: error)
            case .cancelled: throw TagError(.cancelled, error.reason, link: error)
            case .readerUnavailable: throw TagError(.readerUnavailable, error.reason, link: error)
            default: throw TagError(.badAnswer, error.reason, link: error)
            }
        }
    }

    private var type2: Type2Tag? { forumTag as? Type2Tag }

    private func exchange(_ packet: TagPacket) async throws(LinkError) -> [UInt8] {
        guard let link else { throw LinkError(.unsupported, "This reader sends no frames to this tag.") }
        let isFeliCa = target.technology == .nfcF
        if isFeliCa, packet.bytes.count > 254 {
            throw LinkError(.frameTooLong, "A FeliCa packet has at most 254 bytes after its length.")
        }
        let bytes = isFeliCa ? [UInt8(packet.bytes.count + 1)] + packet.bytes : packet.bytes
        type2?.willSend(packet.bytes)
        let timeout: Airtime
        switch packet.answer {
        case .none: timeout = .milliseconds(1)
        case .within(let time): timeout = time
        }
        let answer = try await link.transceive(Frame(bytes), timeout: timeout)
        if let nibble = answer.nibble {
            type2?.wasAnswered(nibble)
            return [nibble]
        }
        return isFeliCa ? Array(answer.bytes.dropFirst()) : answer.bytes
    }
}
