// SPDX-License-Identifier: Apache-2.0
public import TagLink
import TagProtocols

/// The source of a session's tags: a reader, and how to find and select tags on it.
///
/// Calls are made one at a time.
protocol TagSource: Sendable {
    /// Looks once for tags, as if the field had just been turned on. Tags that were found before become invalid.
    /// Returns the tags, and the one that is selected, if any.
    func find(_ plan: PollingPlan) async throws(TagError) -> (tags: [ActivatedTag], selected: ActivatedTag?)

    /// Makes a tag ready for commands.
    func wake(_ tag: ActivatedTag) async throws(TagError)

    /// Deselects the selected tag, so that another one can be used.
    func deselect(_ tag: ActivatedTag) async throws(TagError)

    /// Returns whether the selected tag is still near, after it did not answer a command. Then it accepts commands
    /// again.
    func recover(_ tag: ActivatedTag) async -> Bool

    /// Asks the selected tag whether it is near, with the cheapest exchange of its technology that changes nothing.
    /// Then it accepts commands again.
    func isPresent(_ tag: ActivatedTag) async -> Bool

    /// Ends the running call, from any thread, if cancelling its task does not.
    func interrupt()

    /// Turns the field off, if possible.
    func shutDown() async
}

extension AttachedReader {
    /// The driver of a reader, and the source of tags on it; nil when there is no reader.
    var driverAndSource: (driver: any ReaderDriver, source: any TagSource)? {
        switch self {
        case .field(let driver): (driver, FieldTagSource(driver: driver))
        case .discovering(let driver): (driver, DiscoveringTagSource(driver: driver))
        case .none: nil
        }
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

/// The tags of a reader that finds and activates them itself.
struct DiscoveringTagSource: TagSource {
    let driver: any DiscoveringDriver

    func find(_ plan: PollingPlan) async throws(TagError) -> (tags: [ActivatedTag], selected: ActivatedTag?) {
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
            guard let tag = try? ActivatedTag(discovered, reportsActivationData: driver.reportsActivationData) else {
                continue
            }
            if plan.opensCards, tag.card != nil {
                // The reader releases the card before, also when this one has left.
                selected = nil
                do throws(TagError) {
                    try await select(discovered)
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

    func wake(_ tag: ActivatedTag) async throws(TagError) {
        guard let discovered = tag.discovered else { return }
        try await select(discovered)
        await tag.wasActivated()
    }

    /// The reader releases a tag by itself when it selects another one.
    func deselect(_ tag: ActivatedTag) async throws(TagError) {}

    func recover(_ tag: ActivatedTag) async -> Bool {
        guard case .frames(let link)? = tag.discovered?.port, tag.card == nil else { return false }
        guard (try? await link.reactivate()) != nil else { return false }
        tag.forumTag?.wasActivated()
        return true
    }

    func isPresent(_ tag: ActivatedTag) async -> Bool {
        if let isPresent = await tag.isPresent() { return isPresent }
        return await recover(tag)
    }

    func interrupt() { driver.interrupt() }

    func shutDown() async { await driver.release() }

    private func select(_ tag: DiscoveredTag) async throws(TagError) {
        do throws(LinkError) {
            try await driver.select(tag)
        } catch {
            throw TagError(fatal: error) ?? TagError(.tagLost, error.reason, link: error)
        }
    }
}
