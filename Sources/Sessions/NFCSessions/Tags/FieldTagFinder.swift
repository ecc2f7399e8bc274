// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// Searches a reader's field once for all tags, one technology after the other.
///
/// NFC-A is searched last, because its last tag stays selected and can then be used without another exchange.
struct FieldTagFinder {
    let driver: any FieldDriver
    let plan: PollingPlan

    /// Searches for tags. Returns the tags, and the selected tag; nil when no tag is selected.
    func find() async throws(TagError) -> (tags: [ActivatedTag], selected: ActivatedTag?) {
        var tags: [ActivatedTag] = []
        if let link = link(for: .nfcV) { tags += try await findNFCV(link) }
        if let link = link(for: .nfcF) { tags += try await findNFCF(link) }
        if let link = link(for: .nfcB) { tags += try await findNFCB(link) }
        var selected: ActivatedTag?
        if let link = link(for: .nfcA) {
            let (found, isLastSelected) = try await findNFCA(link)
            tags += found
            if isLastSelected { selected = tags.last }
        }
        await settleTypeB(tags, &selected)
        return (tags, selected)
    }

    private func link(for technology: Technology) -> (any FrameLink)? {
        plan.technologies.contains(technology) ? driver.link(for: technology) : nil
    }

    private func findNFCV(_ link: any FrameLink) async throws(TagError) -> [ActivatedTag] {
        let origin = link.statistics
        let targets = try await NFCVInventory(link: link).findAll()
        return targets.map { target in
            let forumTag = makeForumTag(for: target, link: link, isAlone: targets.count == 1)
            return ActivatedTag(target: .nfcV(target), link: link, forumTag: forumTag, origin: origin)
        }
    }

    /// Finds NFC-F tags. If a tag has several of the plan's systems, the first of them is used.
    private func findNFCF(_ link: any FrameLink) async throws(TagError) -> [ActivatedTag] {
        let origin = link.statistics
        var targets: [NFCFTarget] = []
        for code in plan.systemCodes {
            for answer in try await NFCFPolling(link: link).poll(systemCode: code, timeSlots: 3) {
                if !targets.contains(where: answer.target.isOfSameCard) { targets.append(answer.target) }
            }
        }
        return targets.map { target in
            let forumTag = makeForumTag(for: target, link: link)
            return ActivatedTag(target: .nfcF(target), link: link, forumTag: forumTag, origin: origin)
        }
    }

    private func findNFCB(_ link: any FrameLink) async throws(TagError) -> [ActivatedTag] {
        let origin = link.statistics
        let targets = try await NFCBActivation(link: link).findAll()
        var tags: [ActivatedTag] = []
        for target in targets {
            let forumTag = makeForumTag(for: target, link: link)
            let tag = ActivatedTag(target: .nfcB(target), link: link, forumTag: forumTag, origin: origin)
            if plan.opensCards, let card = tag.card as? ISODEP {
                await open(card, of: tag)
                // While this card listens, the next card can't be found.
                if targets.count > 1 { try? await card.deselect() }
            }
            tags.append(tag)
        }
        return tags
    }

    /// Leaves a Type B card open if it is the only tag. Otherwise deselects all Type B cards.
    private func settleTypeB(_ tags: [ActivatedTag], _ selected: inout ActivatedTag?) async {
        guard plan.opensCards else { return }
        if tags.count == 1, tags[0].target.technology == .nfcB, tags[0].card != nil {
            selected = tags[0]
            return
        }
        for tag in tags where tag.target.technology == .nfcB { try? await (tag.card as? ISODEP)?.deselect() }
    }

    private func findNFCA(_ link: any FrameLink) async throws(TagError) -> (tags: [ActivatedTag], isLastSelected: Bool)
    {
        let origin = link.statistics
        let activation = NFCAActivation(link: link)
        var tags: [ActivatedTag] = []
        for var target in try await activation.activateAll(limit: 256) {
            let forumTag = makeForumTag(for: target, link: link)
            // A Type 1 tag sends its UID only on request.
            if let tag = forumTag as? Type1Tag, (try? await tag.prepare()) != nil, let uid = tag.target?.uid {
                target = NFCATarget(atqa: target.atqa, sak: nil, uid: uid)
            }
            tags.append(ActivatedTag(target: .nfcA(target), link: link, forumTag: forumTag, origin: origin))
        }
        guard plan.opensCards, tags.contains(where: { $0.card != nil }) else { return (tags, !tags.isEmpty) }
        if tags.count == 1, let card = tags[0].card as? ISODEP {
            await open(card, of: tags[0])
            return (tags, true)
        }
        try await activation.halt()
        for tag in tags {
            guard let card = tag.card as? ISODEP, case .nfcA(let target) = tag.target else { continue }
            do throws(TagError) {
                try await activation.reactivate(target)
            } catch {
                guard error.code == .tagLost else { throw error }
                continue
            }
            await open(card, of: tag)
            try? await card.deselect()
        }
        return (tags, false)
    }

    /// Starts the transport protocol, and selects the first of the plan's applications that the card has.
    private func open(_ card: ISODEP, of tag: ActivatedTag) async {
        // A card that can't be opened is still reported. The app's first command will fail.
        guard (try? await card.activate()) != nil else { return }
        await tag.selectApplication(of: plan)
    }
}
