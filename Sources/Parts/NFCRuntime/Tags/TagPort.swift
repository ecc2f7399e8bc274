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
    /// - Returns: the answer; nothing when none is expected.
    /// - Throws: ``TagError`` with `tagLost` when the tag is not there any more, `badAnswer` when it is there and did not
    ///   answer or so that it could not be read, `unsupported`, `readerUnavailable`, `cancelled`.
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
            throw LinkError(.frameTooLong, "A FeliCa packet has at most 254 octets after its length.")
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

    /// What an unanswered packet means: the tag has left, or it is there and has nothing to say.
    private func missing(_ error: LinkError) async -> TagError {
        await source.isStillThere(found)
            ? TagError(.badAnswer, "The tag is there and did not answer the command.", link: error)
            : TagError(.tagLost, "The tag does not answer any more.", link: error)
    }
}

/// A packet that an app sends to a tag by itself.
///
/// - NFC-A: the command's octets without checksum; an answer of four bits is one octet. For a card with ISO-DEP they are
///   carried in blocks of it.
/// - NFC-B: what is carried in blocks of ISO-DEP.
/// - NFC-F: the packet from the command code on, without its length; answers alike.
/// - NFC-V: the request from the flags on, without checksum; answers alike.
public struct TagPacket: Sendable, Hashable {
    /// How the tag answers.
    public enum Answer: Sendable, Hashable {
        /// Not at all: it is enough that the packet was sent.
        case none
        /// In this time at the most, beyond the technology's minimum delay.
        case within(Airtime)
    }

    /// The octets.
    public var octets: [UInt8]
    /// How the tag answers. ISO-DEP has times of its own.
    public var answer: Answer

    /// Creates a packet.
    ///
    /// - Parameters:
    ///   - octets: the octets.
    ///   - answer: how the tag answers.
    public init(_ octets: [UInt8], answer: Answer) {
        self.octets = octets
        self.answer = answer
    }
}
