// SPDX-License-Identifier: Apache-2.0
public import TagLink
package import TagProtocols

/// A tag that was activated, with all that commands to it need: its link, its transport protocol, and the NDEF
/// procedures of its type.
///
/// It is not Sendable, so that it stays with whoever uses the reader. A procedure must not keep it.
package final class ActivatedTag {
    /// The data that the tag sent when it was activated.
    package let target: TagTarget
    /// The link for frames; nil if the reader handles the card's transport protocol.
    package let link: (any FrameLink)?
    /// The NDEF procedures of its type; nil when there are none for its kind.
    package let forumTag: (any ForumTag)?
    /// Whether values such as ATQA and SAK come from the tag itself. Otherwise they were derived from the reader's
    /// data.
    package let reportsActivationData: Bool
    /// The reader's own object for the tag, if it finds tags itself.
    let discovered: DiscoveredTag?
    /// The link's counts before the tag was looked for; nil if the reader activates tags itself.
    private let origin: LinkStatistics?
    /// The application of the plan that was selected when the card was found.
    private(set) var selectedApplication: [UInt8]?
    /// Whether the card says that it supports PACE; false if the plan does not ask.
    private(set) var supportsPACE = false
    /// Whether an app was connected to it. Then the app has changed its state, and it has to be asked whether it is
    /// near.
    var wasConnected = false

    /// Creates a tag in a field whose frames are all counted.
    ///
    /// - Parameters:
    ///   - target: the data of its activation.
    ///   - link: the link over which it was activated.
    ///   - forumTag: its procedures; nil when there are none.
    ///   - origin: the link's counts before.
    package init(target: TagTarget, link: any FrameLink, forumTag: (any ForumTag)?, origin: LinkStatistics) {
        self.target = target
        self.link = link
        self.forumTag = forumTag
        self.origin = origin
        reportsActivationData = true
        discovered = nil
    }

    /// Creates a tag that its reader has activated.
    ///
    /// - Parameters:
    ///   - discovered: what the reader reports.
    ///   - reportsActivationData: whether it comes from the tag itself, see ``reportsActivationData``.
    /// - Throws: ``TagError`` with `badAnswer` when the data break every standard.
    init(_ discovered: DiscoveredTag, reportsActivationData: Bool) throws(TagError) {
        target = try TagTarget(discovered.identity)
        switch discovered.port {
        case .commands(let card, _): (link, forumTag) = (nil, Type4Tag(link: card))
        case .frames(let link): (self.link, forumTag) = (link, makeForumTag(for: target, link: link))
        }
        self.reportsActivationData = reportsActivationData
        self.discovered = discovered
        origin = nil
    }

    /// The card's transport protocol; started if the plan says so.
    package var card: (any APDULink)? { (forumTag as? Type4Tag)?.link }

    /// The card's ATS, if the reader reported it or the card was activated here.
    package var answerToSelect: AnswerToSelect? {
        if case .commands(_, let bytes?) = discovered?.port { return try? AnswerToSelect(bytes) }
        return (card as? ISODEP)?.answerToSelect
    }

    /// The current counts; nil if the reader does not report them.
    package var statistics: LinkStatistics? {
        if let link { return link.countsAir ? link.statistics : nil }
        return card.flatMap { $0.countsAir ? $0.statistics : nil }
    }

    /// The counts since the tag was looked for; nil if the reader activates tags itself.
    package var statisticsSinceOrigin: LinkStatistics? {
        guard let origin, let statistics else { return nil }
        return statistics - origin
    }

    /// If the plan wants it, finds out whether the card supports PACE. If not, selects the first of the plan's
    /// applications that the card has. The results are stored.
    func selectApplication(of plan: PollingPlan) async {
        guard let card else { return }
        if plan.findsPACE, let access = try? await card.readCardAccess(), access.supportsPACE {
            supportsPACE = true
            return
        }
        for name in plan.applications where await Self.select(name, on: card) {
            selectedApplication = name
            return
        }
    }

    /// Asks the tag whether it is near: with R(NAK) for a card with ISO-DEP, otherwise with an exchange of its type.
    /// Returns nil when its kind has no such exchange.
    func isPresent() async -> Bool? {
        if let card { return await card.isPresent() }
        return await forumTag?.isPresent()
    }

    /// Informs the card's protocol and procedures that it was activated again, and selects its application again.
    func wasActivated() async {
        forumTag?.wasActivated()
        if let name = selectedApplication, let card { _ = await Self.select(name, on: card) }
    }

    private static func select(_ name: [UInt8], on card: any APDULink) async -> Bool {
        let response = try? await card.send(.select(application: name))
        return response?.status == .success
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
    public var bytes: [UInt8]
    /// Whether and when the tag answers. ISO-DEP has its own times.
    public var answer: Answer

    /// Creates a packet.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - answer: whether and when the tag answers.
    public init(_ bytes: [UInt8], answer: Answer) {
        self.bytes = bytes
        self.answer = answer
    }
}

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
                throw await source.recover(self)
                    ? TagError(.badAnswer, "The tag is near and did not answer the command.", link: error)
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
