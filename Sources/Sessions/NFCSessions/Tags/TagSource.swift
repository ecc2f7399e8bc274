// SPDX-License-Identifier: Apache-2.0
public import TagLink
package import TagProtocols

/// The kinds of tags that a session looks for.
public struct PollingPlan: Sendable, Hashable {
    /// The technologies to look for.
    public var technologies: Set<Technology>
    /// The FeliCa systems to look for, in order. A tag with several of them is reported with the first.
    public var systemCodes: [UInt16]
    /// Whether to start the transport protocol of cards when they are found, so that their historical bytes are known.
    public var opensCards: Bool
    /// The applications to look for on each opened card, in order. The first one that the card has stays selected.
    public var applications: [[UInt8]]
    /// Whether to check each opened card for PACE support (EF.CardAccess), before the applications. If the card
    /// supports PACE, no application is selected.
    public var findsPACE: Bool

    /// Creates a plan. Each argument sets the property of the same name.
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

    /// All tags that may contain NDEF.
    public static let ndef = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC])

    /// All tags. A tag that may contain NDEF is found in the same way as with ``ndef``.
    public static let everyTag = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC, 0xFFFF])
}

/// Finds tags on a reader.
///
/// Calls are made one at a time, except for ``interrupt()``.
struct TagSource: Sendable {
    private let reader: AttachedReader
    private let carrierIsOn = Locked(false)

    init(_ reader: AttachedReader) { self.reader = reader }

    /// Searches once for tags, as if the field had just been turned on. Tags that were found before become invalid.
    /// Returns the tags, and the selected tag; nil when no tag is selected.
    func find(_ plan: PollingPlan) async throws(TagError) -> (tags: [ActivatedTag], selected: ActivatedTag?) {
        switch reader {
        case .field(let driver):
            if carrierIsOn.withLock({ $0 }) { try await setCarrier(false, of: driver) }
            try await setCarrier(true, of: driver)
            return try await FieldTagFinder(driver: driver, plan: plan).find()
        case .discovering(let driver): return try await find(plan, with: driver)
        case .none: return ([], nil)
        }
    }

    private func find(
        _ plan: PollingPlan,
        with driver: any DiscoveringDriver
    ) async throws(TagError) -> (tags: [ActivatedTag], selected: ActivatedTag?) {
        let all: [DiscoveredTag]
        do throws(LinkError) {
            all = try await driver.discover(plan.technologies, systemCodes: plan.systemCodes)
        } catch {
            throw TagError(fatal: error) ?? TagError(.badAnswer, error.reason, link: error)
        }
        var tags: [ActivatedTag] = []
        var selected: ActivatedTag?
        for discovered in all {
            // A tag whose data match none of the standards is skipped. The other tags are still reported.
            guard let tag = try? ActivatedTag(discovered, by: driver) else { continue }
            if plan.opensCards, tag.card != nil {
                // The reader deselects the previous card, even if it can't select this one.
                selected = nil
                do throws(TagError) {
                    try await tag.select()
                } catch {
                    guard error.code == .tagLost else { throw error }
                    continue
                }
                if let card = tag.card as? ISODEP { _ = try? await card.activate() }
                await tag.selectApplication(of: plan)
                selected = tag
            }
            tags.append(tag)
        }
        return (tags, tags.count == 1 ? selected : nil)
    }

    /// Interrupts the running call, from any thread. For a field driver, cancel the task instead.
    func interrupt() {
        if case .discovering(let driver) = reader { driver.interrupt() }
    }

    /// Turns the field off, or releases a reader that finds tags itself.
    func shutDown() async {
        switch reader {
        // If the reader can't turn its field off, nothing else can be done.
        case .field(let driver): if carrierIsOn.withLock({ $0 }) { try? await setCarrier(false, of: driver) }
        case .discovering(let driver): await driver.release()
        case .none: break
        }
    }

    private func setCarrier(_ isOn: Bool, of driver: any FieldDriver) async throws(TagError) {
        do {
            try await driver.setCarrier(isOn)
            carrierIsOn.withLock { $0 = isOn }
        } catch {
            throw TagError(.readerUnavailable, error.reason, link: error)
        }
    }
}

/// Activates the tag in a field without a session, and runs a procedure on it.
///
/// - Throws: ``TagError`` with `tagLost` when no tag answers, `unsupported` when the tag can't contain NDEF, or the
///   procedure's error.
package func withActivatedTag<Value>(
    in driver: any FieldDriver,
    _ procedure: (any ForumTag) async throws(TagError) -> Value
) async throws(TagError) -> Value {
    let source = TagSource(.field(driver))
    let (tags, selected) = try await source.find(.ndef)
    guard let tag = tags.last else { throw TagError(.tagLost, "The tag does not answer.") }
    let forumTag = try tag.ndef
    if selected == nil { try await tag.wake() }
    return try await procedure(forumTag)
}
