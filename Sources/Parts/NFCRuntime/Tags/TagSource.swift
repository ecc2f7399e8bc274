// SPDX-License-Identifier: Apache-2.0
public import TagLink
import TagProtocols

/// The source of a session's tags: a reader, and how to find and select tags on it.
///
/// Calls are made one at a time.
protocol TagSource: Sendable {
    /// Looks once for tags, as if the field had just been turned on. Tags that were found before become invalid.
    ///
    /// - Returns: the tags, and the index of the selected one, if any.
    func find(_ plan: PollingPlan) async throws(TagError) -> (found: [FoundTag], selected: Int?)

    /// Makes a tag ready for commands.
    func wake(_ found: FoundTag) async throws(TagError)

    /// Deselects the selected tag, so that another one can be used.
    func letGo(of found: FoundTag) async throws(TagError)

    /// Returns whether the selected tag is still near, after it did not answer a command. Then it accepts commands
    /// again.
    func isStillThere(_ found: FoundTag) async -> Bool

    /// Asks the selected tag whether it is near, with the cheapest exchange of its technology that changes nothing.
    /// Then it accepts commands again.
    func isPresent(_ found: FoundTag) async -> Bool

    /// Ends the running call, from any thread, if cancelling its task does not.
    func interrupt()

    /// Turns the field off, if possible.
    func shutDown() async
}

/// A tag that was found, with the data for using it.
struct FoundTag {
    var target: TagTarget
    /// The link for frames; nil if the reader handles the card's transport protocol.
    var link: (any FrameLink)?
    /// The card's transport protocol; started if the plan says so.
    var card: (any APDULink)?
    /// The NDEF procedures of its type; nil when there are none for its kind.
    var tag: (any ForumTag)?
    /// The application of the plan that was selected when the card was found.
    var selectedApplication: [UInt8]?
    /// Whether the card says that it supports PACE; false if the plan does not ask.
    var supportsPACE = false
    /// The reader's own object for the tag, if it finds tags itself.
    var discovered: DiscoveredTag?
    /// Whether values such as ATQA and SAK come from the tag itself.
    var tellsActivation = true
    /// The link's counts before the tag was looked for; nil if the reader activates tags itself.
    var origin: LinkStatistics?

    /// The ATS, if known.
    var answerToSelect: AnswerToSelect? {
        if case .commands(_, let octets?) = discovered?.port { return try? AnswerToSelect(octets) }
        return (card as? ISODEP)?.answerToSelect
    }

    /// If the plan wants it, finds out whether the card supports PACE. If not, selects the first of the plan's
    /// applications that the card has. The results are stored.
    mutating func selectApplication(of plan: PollingPlan) async {
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
        return await tag?.isPresent()
    }

    /// Informs the card's protocol and procedures that it was activated again, and selects its application again.
    func wasActivated() async {
        card?.wasActivated()
        tag?.wasActivated()
        if let name = selectedApplication, let card { _ = await Self.select(name, on: card) }
    }

    private static func select(_ name: [UInt8], on card: any APDULink) async -> Bool {
        let response = try? await card.send(.select(application: name))
        return response?.status == .success
    }
}

/// What a session looks for.
public struct PollingPlan: Sendable, Hashable {
    /// The technologies to look for.
    public var technologies: Set<Technology>
    /// The FeliCa systems to look for, in order. A tag is found with the first one that it has.
    public var systemCodes: [UInt16]
    /// Whether to start the transport protocol of cards when they are found, so that their historical bytes are known.
    public var opensCards: Bool
    /// The applications to look for on each opened card, in order. The first one that it has stays selected.
    public var applications: [[UInt8]]
    /// Whether to ask each opened card for PACE (EF.CardAccess), before its applications. If it supports PACE, no
    /// application is selected.
    public var findsPACE: Bool

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - technologies: the technologies to look for.
    ///   - systemCodes: the FeliCa systems to look for.
    ///   - opensCards: whether to start the transport protocol of cards when they are found.
    ///   - applications: the applications to look for on each card, in order.
    ///   - findsPACE: whether to ask each card for PACE.
    public init(
        technologies: Set<Technology>,
        systemCodes: [UInt16] = [],
        opensCards: Bool = false,
        applications: [[UInt8]] = [],
        findsPACE: Bool = false
    ) {
        self.technologies = technologies
        self.systemCodes = systemCodes
        self.opensCards = opensCards
        self.applications = applications
        self.findsPACE = findsPACE
    }

    /// All tags that may have NDEF.
    public static let ndef = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC])

    /// All tags. A tag that may have NDEF is found like with ``ndef``.
    public static let everyTag = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC, 0xFFFF])
}
