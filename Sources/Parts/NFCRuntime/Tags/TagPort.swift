// SPDX-License-Identifier: Apache-2.0
public import TagLink
import TagProtocols

/// Sends an app's own packets to a tag.
struct TagPort {
    private let found: FoundTag
    private let source: any TagSource

    init(_ found: FoundTag, on source: any TagSource) {
        self.found = found
        self.source = source
    }

    /// Sends a packet.
    ///
    /// - Returns: the answer; empty when none is expected.
    /// - Throws: ``TagError`` with `tagLost` when the tag has left, `badAnswer` when it is near but did not answer or
    ///   its answer could not be read, `unsupported`, `readerUnavailable`, `cancelled`.
    func send(_ packet: TagPacket) async throws(TagError) -> [UInt8] {
        do throws(LinkError) {
            if let card = found.card { return try await card.transmit(packet.octets) }
            return try await exchange(packet)
        } catch {
            switch error.code {
            case .timeout, .transmission, .collision:
                if packet.answer == .none { return [] }
                throw await missing(error)
            case .tagRemoved: throw TagError(.tagLost, error.reason, link: error)
            case .frameTooLong, .unsupported: throw TagError(.unsupported, error.reason, link: error)
            case .cancelled: throw TagError(.cancelled, error.reason, link: error)
            case .readerUnavailable: throw TagError(.readerUnavailable, error.reason, link: error)
            default: throw TagError(.badAnswer, error.reason, link: error)
            }
        }
    }

    private func exchange(_ packet: TagPacket) async throws(LinkError) -> [UInt8] {
        guard let link = found.link else {
            throw LinkError(.unsupported, "This reader sends no frames to this tag.")
        }
        let isFeliCa = found.target.technology == .nfcF
        if isFeliCa, packet.octets.count > 254 {
            throw LinkError(.frameTooLong, "A FeliCa packet has at most 254 bytes after its length.")
        }
        let octets = isFeliCa ? [UInt8(packet.octets.count + 1)] + packet.octets : packet.octets
        let answer = try await link.transceive(Frame(octets), timeout: timeout(of: packet))
        if let nibble = answer.nibble { return [nibble] }
        return isFeliCa ? Array(answer.bytes.dropFirst()) : answer.bytes
    }

    private func timeout(of packet: TagPacket) -> Airtime {
        switch packet.answer {
        case .none: .milliseconds(1)
        case .within(let time): time
        }
    }

    /// Finds out why a packet was not answered: the tag has left, or it is near and has no answer.
    private func missing(_ error: LinkError) async -> TagError {
        await source.isStillThere(found)
            ? TagError(.badAnswer, "The tag is there and did not answer the command.", link: error)
            : TagError(.tagLost, "The tag does not answer any more.", link: error)
    }
}

/// A packet that an app sends to a tag directly.
///
/// - NFC-A: the bytes of the command without checksum. An answer of four bits is one byte. For a card with ISO-DEP, the
///   packet is sent in ISO-DEP blocks.
/// - NFC-B: the content of ISO-DEP blocks.
/// - NFC-F: the packet from the command code on, without its length byte; the answer likewise.
/// - NFC-V: the request from the flags on, without checksum; the answer likewise.
public struct TagPacket: Sendable, Hashable {
    /// Whether and when the tag answers.
    public enum Answer: Sendable, Hashable {
        /// It does not answer. The packet only has to be sent.
        case none
        /// Within this time, in addition to the technology's minimum delay.
        case within(Airtime)
    }

    /// The bytes.
    public var octets: [UInt8]
    /// Whether and when the tag answers. ISO-DEP has its own times.
    public var answer: Answer

    /// Creates a packet.
    ///
    /// - Parameters:
    ///   - octets: the bytes.
    ///   - answer: whether and when the tag answers.
    public init(_ octets: [UInt8], answer: Answer) {
        self.octets = octets
        self.answer = answer
    }
}
