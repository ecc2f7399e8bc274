// SPDX-License-Identifier: Apache-2.0
package import TagLink
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
    ///
    /// - Returns: nil when its kind has no such exchange.
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
