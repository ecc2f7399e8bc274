// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// Looks once for all tags in a reader's field, technology by technology.
///
/// NFC-A comes last: its last tag stays selected, and what is worked with at once needs no further exchange.
struct TagFinder {
    let driver: any FieldDriver
    let plan: PollingPlan

    /// A tag that was found, and what it takes to work with it.
    struct Found {
        var target: TagTarget
        var link: any FrameLink
        /// The card's transport protocol, not begun yet.
        var card: (any APDULink)?
        /// The NDEF procedures of its type; nil when there are none for its kind.
        var tag: (any ForumTag)?
    }

    func find() async throws(TagError) -> [Found] {
        var found: [Found] = []
        if let link = link(for: .nfcV) {
            let targets = try await NFCVInventory(link: link).findAll()
            for target in targets {
                let tag = makeForumTag(for: target, link: link, isAlone: targets.count == 1)
                found.append(Found(target: .nfcV(target), link: link, tag: tag))
            }
        }
        if let link = link(for: .nfcF) {
            for target in try await systems(NFCFPolling(link: link)) {
                found.append(Found(target: .nfcF(target), link: link, tag: makeForumTag(for: target, link: link)))
            }
        }
        if let link = link(for: .nfcB) {
            for target in try await NFCBActivation(link: link).findAll() {
                let card = target.isISODEP ? ISODEP(link: link, opening: .attribute(target)) : nil
                found.append(Found(target: .nfcB(target), link: link, card: card, tag: card.map { Type4Tag(link: $0) }))
            }
        }
        if let link = link(for: .nfcA) {
            for target in try await NFCAActivation(link: link).activateAll() {
                let card = target.isISODEP ? ISODEP(link: link) : nil
                let tag = card.map { Type4Tag(link: $0) } ?? makeForumTag(for: target, link: link)
                found.append(Found(target: .nfcA(target), link: link, card: card, tag: tag))
            }
        }
        return found
    }

    private func link(for technology: Technology) -> (any FrameLink)? {
        plan.technologies.contains(technology) ? driver.link(for: technology) : nil
    }

    /// The tags that have one of the systems, each with the first of them that it has.
    private func systems(_ polling: NFCFPolling) async throws(TagError) -> [NFCFTarget] {
        var targets: [NFCFTarget] = []
        for code in plan.systemCodes {
            for answer in try await polling.poll(systemCode: code, timeSlots: 3) {
                if !targets.contains(where: { $0.idm == answer.target.idm }) { targets.append(answer.target) }
            }
        }
        return targets
    }
}
