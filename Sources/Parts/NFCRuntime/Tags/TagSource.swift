// SPDX-License-Identifier: Apache-2.0
public import TagLink
import TagProtocols

/// Where a session's tags come from: a reader, and how tags are found and selected on it.
///
/// Calls are made one at a time.
protocol TagSource: Sendable {
    /// Looks once for tags, with the field as if it had just been turned on. Those found before are gone.
    ///
    /// - Returns: the tags, and the index of the one that is selected, if any.
    func find(_ plan: PollingPlan) async throws(TagError) -> (found: [FoundTag], selected: Int?)

    /// Makes a tag ready for commands.
    func wake(_ found: FoundTag) async throws(TagError)

    /// Sends the selected tag away, so that another one can be worked with.
    func letGo(of found: FoundTag) async throws(TagError)

    /// Says whether the selected tag is there, after a command to which it did not answer. It takes commands then.
    func isStillThere(_ found: FoundTag) async -> Bool

    /// Asks the selected tag whether it is there, by the cheapest exchange of its technology that changes nothing. It
    /// takes commands then.
    func isPresent(_ found: FoundTag) async -> Bool

    /// Ends what is under way, from any thread, where cancelling its task does not.
    func interrupt()

    /// Turns the field off, where that is possible.
    func shutDown() async
}

/// A tag that was found, and what it takes to work with it.
struct FoundTag {
    var target: TagTarget
    /// The way for frames; nil where the reader speaks the card's transport protocol.
    var link: (any FrameLink)?
    /// The card's transport protocol; begun when the plan says so.
    var card: (any APDULink)?
    /// The NDEF procedures of its type; nil when there are none for its kind.
    var tag: (any ForumTag)?
    /// The application of the plan that was selected while the card was found.
    var selectedApplication: [UInt8]?
    /// Whether the card says that it takes PACE; false where the plan does not ask.
    var supportsPACE = false
    /// The reader's own handle of the tag, where it finds tags by itself.
    var discovered: DiscoveredTag?
    /// Whether ATQA, SAK and the like are the tag's own words.
    var tellsActivation = true
    /// What the link had counted before the tag was looked for; nil where the reader activates tags by itself.
    var origin: LinkStatistics?

    /// The ATS, where it is known.
    var answerToSelect: AnswerToSelect? {
        if case .commands(_, let octets?) = discovered?.port { return try? AnswerToSelect(octets) }
        return (card as? ISODEP)?.answerToSelect
    }

    /// Finds out whether the card takes PACE, where the plan wants that, and remembers it. Else it selects the first of a
    /// plan's applications that the card has, and remembers that.
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

    /// Asks the tag whether it is there: R(NAK) for a card with ISO-DEP, and what its type has for any other.
    ///
    /// - Returns: nil where there is no such exchange for its kind.
    func isPresent() async -> Bool? {
        if let card { return await card.isPresent() }
        return await tag?.isPresent()
    }

    /// Tells the card's protocol and procedures that it was activated anew, and selects its application again.
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
    /// The FeliCa systems to look for, each in turn; a tag is found by the first that it has.
    public var systemCodes: [UInt16]
    /// Whether the transport protocol of cards is begun while they are found, so that their historical bytes are known.
    public var opensCards: Bool
    /// The applications to look for on each card that is opened, in order; the first that it has stays selected.
    public var applications: [[UInt8]]
    /// Whether each card that is opened is asked for PACE (EF.CardAccess), before its applications; one that takes it has
    /// none selected.
    public var findsPACE: Bool

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - technologies: the technologies to look for.
    ///   - systemCodes: the FeliCa systems to look for.
    ///   - opensCards: whether the transport protocol of cards is begun while they are found.
    ///   - applications: the applications to look for on each card, in order.
    ///   - findsPACE: whether each card is asked for PACE.
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

    /// Every tag that may hold NDEF.
    public static let ndef = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC])

    /// Every tag, whether or not it may hold NDEF; one that may is found as with ``ndef``.
    public static let everyTag = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC, 0xFFFF])
}
