// SPDX-License-Identifier: Apache-2.0
public import TagLink
package import TagProtocols

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

    /// All tags that may have NDEF.
    public static let ndef = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC])

    /// All tags. A tag that may have NDEF is found like with ``ndef``.
    public static let everyTag = PollingPlan(technologies: Set(Technology.allCases), systemCodes: [0x12FC, 0xFFFF])
}

/// The source of a session's tags: a reader, and how to find tags on it.
///
/// Calls are made one at a time, except ``interrupt()``.
struct TagSource: Sendable {
    private let reader: AttachedReader
    private let carrierIsOn = Locked(false)

    init(_ reader: AttachedReader) { self.reader = reader }

    /// Looks once for tags, as if the field had just been turned on. Tags that were found before become invalid.
    /// Returns the tags, and the one that is selected, if any.
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

    /// Finds the tags of a reader that finds and activates them itself.
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
            // A tag whose data break every standard is left out. The others still count.
            guard let tag = try? ActivatedTag(discovered, by: driver) else { continue }
            if plan.opensCards, tag.card != nil {
                // The reader releases the card before, also when this one has left.
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

    /// Ends the running call, from any thread. A field driver notices the cancellation of the task.
    func interrupt() {
        if case .discovering(let driver) = reader { driver.interrupt() }
    }

    /// Turns the field off, if possible.
    func shutDown() async {
        switch reader {
        // If the reader can't even turn its field off, there is nothing else to do.
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
/// - Returns: the result of the procedure.
/// - Throws: ``TagError`` with `tagLost` when no tag answers, `unsupported` when it has no NDEF, or an error of the
///   procedure.
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
