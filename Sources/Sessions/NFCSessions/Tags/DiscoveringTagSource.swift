// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

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
            guard let tag = try? ActivatedTag(discovered, reportsActivationData: driver.reportsActivationData) else { continue }
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
    func letGo(of tag: ActivatedTag) async throws(TagError) {}

    func isStillThere(_ tag: ActivatedTag) async -> Bool {
        guard case .frames(let link)? = tag.discovered?.port, tag.card == nil else { return false }
        guard (try? await link.reactivate()) != nil else { return false }
        tag.forumTag?.wasActivated()
        return true
    }

    func isPresent(_ tag: ActivatedTag) async -> Bool {
        if let isPresent = await tag.isPresent() { return isPresent }
        return await isStillThere(tag)
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
