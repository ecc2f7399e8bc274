// SPDX-License-Identifier: Apache-2.0
public import TagLink
package import TagProtocols

/// An activated tag, ready for commands, with its link, its transport protocol, and the NDEF procedures of its type.
///
/// Not Sendable, so that only code that currently uses the reader has access to the tag. A procedure must not keep a
/// reference.
package final class ActivatedTag {
    package let target: TagTarget
    /// The link for frames; nil if the reader handles the card's transport protocol.
    package let link: (any FrameLink)?
    /// The NDEF procedures of the tag's type; nil when this kind of tag is not supported.
    package private(set) var forumTag: (any ForumTag)?
    /// The driver's object for the tag, if the reader finds tags itself.
    private let discovery: (tag: DiscoveredTag, driver: any DiscoveringDriver)?
    /// The link's counts before the search for the tag; nil if the reader activates tags itself.
    private let origin: LinkStatistics?
    /// The plan's application that was selected when the card was found; nil for none.
    private(set) var selectedApplication: [UInt8]?
    private(set) var hasNoApplication = false
    /// Whether the card reports PACE support; false if the plan does not ask for it.
    private(set) var supportsPACE = false
    /// Whether an app was connected to the tag. If so, the app may have changed the tag's state, and the tag itself has
    /// to be asked whether it is present.
    var wasConnected = false

    /// Creates a tag that was activated over a link, which counts all frames.
    ///
    /// - Parameters:
    ///   - forumTag: the tag's NDEF procedures; nil when its kind is not supported.
    ///   - origin: the link's counts before the search for the tag.
    package init(target: TagTarget, link: any FrameLink, forumTag: (any ForumTag)?, origin: LinkStatistics) {
        self.target = target
        self.link = link
        self.forumTag = forumTag
        self.origin = origin
        discovery = nil
    }

    /// Creates a tag that its reader has activated.
    ///
    /// - Throws: ``TagError`` with `badAnswer` when the reader's data match none of the standards.
    init(_ discovered: DiscoveredTag, by driver: any DiscoveringDriver) throws(TagError) {
        target = try TagTarget(discovered.identity)
        switch discovered.port {
        case .commands(let card, _): (link, forumTag) = (nil, Type4Tag(link: card))
        case .frames(let link): (self.link, forumTag) = (link, makeForumTag(for: target, link: link))
        }
        discovery = (discovered, driver)
        origin = nil
    }

    /// Whether values such as ATQA and SAK are from the tag itself. If false, they were derived from the reader's data.
    package var reportsActivationData: Bool { discovery?.driver.reportsActivationData ?? true }

    /// The NDEF procedures of the tag's type.
    ///
    /// - Throws: ``TagError`` with `unsupported` when this kind of tag is not supported.
    package var ndef: any ForumTag {
        get throws(TagError) {
            if let forumTag { return forumTag }
            if case .nfcA(let target) = target { throw TagError(.unsupported, target.reasonWithoutNDEF) }
            throw TagError(.unsupported, "A \(target.kindName) can't be read as NDEF here.")
        }
    }

    /// Gives a MIFARE Classic its NDEF procedures, with keys to try. Sessions of apps leave it without them, as on a
    /// phone.
    package func useClassicKeys(_ keys: [[UInt8]]) {
        guard case .nfcA(let target) = target, target.isMIFAREClassic, !target.isISODEP, !target.uid.isEmpty, let link
        else { return }
        forumTag = MIFAREClassic(target: target, link: link, keys: keys)
    }

    /// Returns the NDEF procedures for a call of an app. A phone activates the tag again before such a call, which ends
    /// the authentication of the app's own commands.
    package func ndefForApp() async throws(TagError) -> any ForumTag {
        if type2?.mayBeAuthenticated == true {
            try await deselect()
            try await wake()
        }
        return try ndef
    }

    /// The card's transport protocol; already started if the plan opens cards.
    package var card: (any APDULink)? { (forumTag as? Type4Tag)?.link }

    /// The card's ATS, if the reader reported it or the card was activated here.
    package var answerToSelect: AnswerToSelect? {
        if case .commands(_, let bytes?) = discovery?.tag.port { return try? AnswerToSelect(bytes) }
        return (card as? ISODEP)?.answerToSelect
    }

    /// The current counts; nil if the reader does not report them.
    package var statistics: LinkStatistics? {
        if let link { return link.countsAir ? link.statistics : nil }
        return card.flatMap { $0.countsAir ? $0.statistics : nil }
    }

    /// The counts since the search for the tag began; nil if the reader activates tags itself.
    package var statisticsSinceOrigin: LinkStatistics? {
        guard let origin, let statistics else { return nil }
        return statistics - origin
    }

    /// Checks for PACE support if the plan asks for it. Without PACE, selects the first of the plan's applications that
    /// the card has. Stores the results in this object.
    func selectApplication(of plan: PollingPlan) async {
        guard let card else { return }
        if plan.findsPACE, let access = try? await card.readCardAccess(), access.supportsPACE {
            supportsPACE = true
            return
        }
        var refusals = 0
        for name in plan.applications {
            // A card that was lost has refused nothing.
            guard let response = try? await card.send(.select(application: name)) else { continue }
            if response.status == .success {
                selectedApplication = name
                return
            }
            refusals += 1
        }
        hasNoApplication = refusals > 0 && refusals == plan.applications.count
    }

    // MARK: Selection

    /// Makes the tag ready for commands after another tag was selected.
    func wake() async throws(TagError) {
        if discovery == nil { try await activate() } else { try await select() }
        forumTag?.wasActivated()
        if let name = selectedApplication, let card { _ = try? await card.send(.select(application: name)) }
    }

    /// Selects the tag with a reader that finds tags itself.
    func select() async throws(TagError) {
        guard let discovery else { return }
        do throws(LinkError) {
            try await discovery.driver.select(discovery.tag)
        } catch {
            throw TagError(fatal: error) ?? TagError(.tagLost, error.reason, link: error)
        }
    }

    /// Activates the tag again by sending frames.
    private func activate() async throws(TagError) {
        guard let link else { return }
        switch target {
        case .nfcA(let target) where !target.isType1:
            try await NFCAActivation(link: link).reactivate(target)
        case .nfcB(let target):
            let present = try await NFCBActivation(link: link).findAll(waking: true)
            guard present.contains(where: { $0.identifier == target.identifier }) else {
                throw TagError(.tagLost, "The card does not answer any more.")
            }
        case .nfcA, .nfcF, .nfcV:
            // No activation is needed: Type 1 has no anticollision, and NFC-F and NFC-V commands contain the
            // identifier.
            break
        }
    }

    /// Deselects the tag, so that another tag can be used. A reader that finds tags itself does this when it selects
    /// another tag.
    func deselect() async throws(TagError) {
        guard discovery == nil else { return }
        // A missing answer is ignored, because the activation of the other tag usually deselects the card too.
        if let card = card as? ISODEP { try? await card.deselect() }
        // Any unknown command deselects the tag; HLTA is the regular way.
        if case .nfcA = target, let link { try await NFCAActivation(link: link).halt() }
    }

    /// Reactivates the selected tag after it did not answer a command. Returns whether the tag is present and accepts
    /// commands again.
    private func recover() async -> Bool {
        if let discovery {
            guard case .frames(let link) = discovery.tag.port, card == nil, (try? await link.reactivate()) != nil else {
                return false
            }
        } else {
            switch target {
            case .nfcA(let target) where !target.isISODEP && !target.isType1:
                // The tag went to sleep when it refused the command. Activation wakes it.
                guard (try? await activate()) != nil else { return false }
            case .nfcA where card != nil, .nfcB: return false
            default: return await forumTag?.isPresent() == true
            }
        }
        forumTag?.wasActivated()
        return true
    }

    /// Checks whether the selected tag is present: with R(NAK) for an ISO-DEP card, otherwise with a harmless exchange
    /// of the tag's type. A tag that is present accepts commands afterwards.
    func isPresent() async -> Bool {
        if let card { return await card.isPresent() }
        if let forumTag { return await forumTag.isPresent() }
        return discovery == nil ? (try? await activate()) != nil : await recover()
    }
}

/// A packet that an app sends to a tag directly.
///
/// - NFC-A: the command without its checksum. A four-bit answer is returned as one byte. For an ISO-DEP card, the
///   packet is sent in ISO-DEP blocks.
/// - NFC-B: the payload of ISO-DEP blocks.
/// - NFC-F: the packet without its length byte, starting with the command code; the same for the answer.
/// - NFC-V: the request without its checksum, starting with the flags; the same for the answer.
public struct TagPacket: Sendable, Hashable {
    /// Whether and when the tag answers.
    public enum Answer: Sendable, Hashable {
        /// The tag does not answer.
        case none
        /// The tag answers within this time, which is added to the technology's minimum delay.
        case within(Airtime)
    }

    /// The bytes.
    public var bytes: [UInt8]
    /// Whether and when the tag answers. ISO-DEP uses its own timeouts instead.
    public var answer: Answer
    /// Whether a negative acknowledgement of four bits is an answer. If not, it is an error.
    public var deliversRefusals: Bool

    /// Creates a packet.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - answer: whether and when the tag answers.
    ///   - deliversRefusals: whether a negative acknowledgement of four bits is an answer.
    public init(_ bytes: [UInt8], answer: Answer, deliversRefusals: Bool = false) {
        self.bytes = bytes
        self.answer = answer
        self.deliversRefusals = deliversRefusals
    }
}

extension ActivatedTag {
    /// Sends a packet that the app built.
    ///
    /// - Parameter packet: the bytes, see ``TagPacket``.
    /// - Returns: the answer; empty when none is expected.
    /// - Throws: ``TagError`` with `tagLost` when the tag has left, `badAnswer` when the tag is present but did not
    ///   answer or gave an unreadable answer, `refused`, `unsupported`, `readerUnavailable`, `cancelled`.
    package func send(_ packet: TagPacket) async throws(TagError) -> [UInt8] {
        // A Type 2 tag may be asleep, because it refused a command of an earlier procedure.
        try await type2?.activate()
        // The packet may change data that the procedures have cached, or select another application or file.
        forumTag?.forgetMemory()
        do throws(LinkError) {
            if let card { return try await card.transmit(packet.bytes) }
            let (bytes, isRefusal) = try await exchange(packet)
            if !isRefusal || packet.deliversRefusals { return bytes }
        } catch {
            switch error.code {
            case .timeout, .transmission, .collision:
                if packet.answer == .none { return [] }
                throw await recover()
                    ? TagError(.badAnswer, "The tag is present but did not answer the command.", link: error)
                    : TagError(.tagLost, "The tag no longer answers.", link: error)
            case .tagRemoved: throw TagError(.tagLost, error.reason, link: error)
            // A phone loses a tag whose answer is too long for it. A command that is too long is not sent.
            case .frameTooLong where packet.bytes.count + 2 <= link?.maximumFrameLength ?? 0:
                throw TagError(.tagLost, error.reason, link: error)
            case .frameTooLong, .unsupported: throw TagError(.unsupported, error.reason, link: error)
            case .cancelled: throw TagError(.cancelled, error.reason, link: error)
            case .readerUnavailable: throw TagError(.readerUnavailable, error.reason, link: error)
            default: throw TagError(.badAnswer, error.reason, link: error)
            }
        }
        throw TagError(.refused, "The tag refused the command.")
    }

    private var type2: Type2Tag? { forumTag as? Type2Tag }
    /// The checksum of a packet on air: a Type 1 tag has that of NFC-B (NFC Forum T1T 1.2, 4.4).
    package var packetChecksum: Frame.Checksum { forumTag is Type1Tag ? .crcB : .automatic }

    private func exchange(_ packet: TagPacket) async throws(LinkError) -> (bytes: [UInt8], isRefusal: Bool) {
        guard let link else { throw LinkError(.unsupported, "This reader can't send frames to this tag.") }
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
        let answer = try await link.transceive(Frame(bytes, checksum: packetChecksum), timeout: timeout)
        if let nibble = answer.nibble {
            type2?.wasAnswered(nibble)
            return ([nibble], nibble != Type2Tag.acknowledge)
        }
        return (isFeliCa ? Array(answer.bytes.dropFirst()) : answer.bytes, false)
    }
}
