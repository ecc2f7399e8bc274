// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// The tags of a reader that finds and activates them itself.
struct DiscoveringTagSource: TagSource {
    let driver: any DiscoveringDriver

    func find(_ plan: PollingPlan) async throws(TagError) -> (found: [FoundTag], selected: Int?) {
        let tags: [DiscoveredTag]
        do throws(LinkError) {
            tags = try await driver.discover(plan.technologies, systemCodes: plan.systemCodes)
        } catch {
            throw TagError(fatal: error) ?? TagError(.badAnswer, error.reason, link: error)
        }
        var found: [FoundTag] = []
        for tag in tags {
            // A tag whose data break every standard is left out. The others still count.
            guard var entry = try? Self.found(tag) else { continue }
            entry.tellsActivation = driver.tellsActivation
            if plan.opensCards, entry.card != nil {
                do throws(TagError) {
                    try await select(tag)
                } catch {
                    guard error.code == .tagLost else { throw error }
                    continue
                }
                if let card = entry.card as? ISODEP { _ = try? await card.activate() }
                await entry.selectApplication(of: plan)
            }
            found.append(entry)
        }
        return (found, found.count == 1 && found[0].card != nil && plan.opensCards ? 0 : nil)
    }

    private static func found(_ tag: DiscoveredTag) throws(TagError) -> FoundTag {
        let target = try TagTarget(tag.identity)
        switch tag.port {
        case .commands(let card, _):
            return FoundTag(target: target, card: card, tag: Type4Tag(link: card), discovered: tag)
        case .frames(let link):
            guard target.isISODEP else {
                let forumTag = makeForumTag(for: target, link: link)
                return FoundTag(target: target, link: link, tag: forumTag, discovered: tag)
            }
            let card: ISODEP
            if case .nfcB(let target) = target {
                card = ISODEP(link: link, opening: .attribute(target))
            } else {
                card = ISODEP(link: link)
            }
            return FoundTag(target: target, link: link, card: card, tag: Type4Tag(link: card), discovered: tag)
        }
    }

    func wake(_ found: FoundTag) async throws(TagError) {
        guard let tag = found.discovered else { return }
        try await select(tag)
        await found.wasActivated()
    }

    /// The reader releases a tag by itself when it selects another one.
    func letGo(of found: FoundTag) async throws(TagError) {}

    func isStillThere(_ found: FoundTag) async -> Bool {
        guard case .frames(let link)? = found.discovered?.port, found.card == nil else { return false }
        guard (try? await link.reactivate()) != nil else { return false }
        found.tag?.wasActivated()
        return true
    }

    func isPresent(_ found: FoundTag) async -> Bool {
        if let isPresent = await found.isPresent() { return isPresent }
        return await isStillThere(found)
    }

    func interrupt() {
        driver.interrupt()
    }

    func shutDown() async {
        await driver.release()
    }

    private func select(_ tag: DiscoveredTag) async throws(TagError) {
        do throws(LinkError) {
            try await driver.select(tag)
        } catch {
            throw TagError(fatal: error) ?? TagError(.tagLost, error.reason, link: error)
        }
    }
}
