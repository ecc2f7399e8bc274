// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// Looks once for all tags in a reader's field, technology by technology.
///
/// NFC-A comes last, because its last tag stays selected. If it is used next, no further exchange is needed.
struct FieldTagFinder {
    let driver: any FieldDriver
    let plan: PollingPlan

    /// Looks for tags.
    ///
    /// - Returns: the tags, and the index of the selected one, if any.
    func find() async throws(TagError) -> (found: [FoundTag], selected: Int?) {
        var found: [FoundTag] = []
        if let link = link(for: .nfcV) { found += try await findNFCV(link) }
        if let link = link(for: .nfcF) { found += try await findNFCF(link) }
        if let link = link(for: .nfcB) { found += try await findNFCB(link) }
        var selected: Int?
        if let link = link(for: .nfcA) {
            let (tags, isLastSelected) = try await findNFCA(link)
            found += tags
            if isLastSelected { selected = found.indices.last }
        }
        await settleTypeB(found, &selected)
        return (found, selected)
    }

    private func link(for technology: Technology) -> (any FrameLink)? {
        plan.technologies.contains(technology) ? driver.link(for: technology) : nil
    }

    private func findNFCV(_ link: any FrameLink) async throws(TagError) -> [FoundTag] {
        let targets = try await NFCVInventory(link: link).findAll()
        return targets.map { target in
            let tag = makeForumTag(for: target, link: link, isAlone: targets.count == 1)
            return FoundTag(target: .nfcV(target), link: link, tag: tag)
        }
    }

    /// Finds each tag with the first of the plan's systems that it has.
    private func findNFCF(_ link: any FrameLink) async throws(TagError) -> [FoundTag] {
        var targets: [NFCFTarget] = []
        for code in plan.systemCodes {
            for answer in try await NFCFPolling(link: link).poll(systemCode: code, timeSlots: 3) {
                if !targets.contains(where: { $0.idm == answer.target.idm }) { targets.append(answer.target) }
            }
        }
        return targets.map { FoundTag(target: .nfcF($0), link: link, tag: makeForumTag(for: $0, link: link)) }
    }

    private func findNFCB(_ link: any FrameLink) async throws(TagError) -> [FoundTag] {
        let targets = try await NFCBActivation(link: link).findAll()
        var found: [FoundTag] = []
        for target in targets {
            let card = target.isISODEP ? ISODEP(link: link, opening: .attribute(target)) : nil
            var entry = FoundTag(target: .nfcB(target), link: link, card: card, tag: card.map { Type4Tag(link: $0) })
            if plan.opensCards, let card {
                await open(card, of: &entry)
                // While this card listens, the next one can't be found.
                if targets.count > 1 { try? await card.deselect() }
            }
            found.append(entry)
        }
        return found
    }

    /// A Type B card stays open if it is the only tag. Otherwise it is halted, because only one tag is used at a time.
    private func settleTypeB(_ found: [FoundTag], _ selected: inout Int?) async {
        guard plan.opensCards else { return }
        if found.count == 1, found[0].target.technology == .nfcB, found[0].card != nil {
            selected = 0
            return
        }
        for entry in found where entry.target.technology == .nfcB { try? await (entry.card as? ISODEP)?.deselect() }
    }

    private func findNFCA(_ link: any FrameLink) async throws(TagError) -> (found: [FoundTag], isLastSelected: Bool) {
        let activation = NFCAActivation(link: link)
        let targets = try await activation.activateAll()
        var found: [FoundTag] = []
        for target in targets {
            let card = target.isISODEP ? ISODEP(link: link) : nil
            let tag = card.map { Type4Tag(link: $0) } ?? makeForumTag(for: target, link: link)
            var entry = FoundTag(target: .nfcA(target), link: link, card: card, tag: tag)
            // A Type 1 tag only sends its UID when it is asked.
            if let tag = tag as? Type1Tag, (try? await tag.prepare()) != nil, let uid = tag.target?.uid {
                entry.target = .nfcA(NFCATarget(atqa: target.atqa, sak: nil, uid: uid))
            }
            found.append(entry)
        }
        guard plan.opensCards, targets.contains(where: \.isISODEP) else { return (found, !found.isEmpty) }
        if targets.count == 1, let card = found[0].card as? ISODEP {
            await open(card, of: &found[0])
            return (found, true)
        }
        try await activation.halt()
        for (index, target) in targets.enumerated() {
            guard let card = found[index].card as? ISODEP else { continue }
            do throws(TagError) {
                try await activation.reactivate(target)
            } catch {
                guard error.code == .tagLost else { throw error }
                continue
            }
            await open(card, of: &found[index])
            try? await card.deselect()
        }
        return (found, false)
    }

    /// Starts the transport protocol, and selects the first of the plan's applications that the card has.
    private func open(_ card: ISODEP, of found: inout FoundTag) async {
        // A card that can't be opened is still reported. The app's first command will show the problem.
        guard (try? await card.activate()) != nil else { return }
        await found.selectApplication(of: plan)
    }
}
