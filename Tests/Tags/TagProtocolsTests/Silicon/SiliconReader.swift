// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// A reader in front of a virtual field: finds the one tag in it, as a session would.
struct SiliconReader {
    let field = VirtualField()

    init(_ tag: any VirtualTag) {
        field.bring(tag)
    }

    /// Activates the tag and makes its NDEF procedures.
    func find(_ technology: Technology) async throws -> any ForumTag {
        let link = try #require(field.link(for: technology))
        switch technology {
        case .nfcA:
            let target = try #require(try await NFCAActivation(link: link).activateAll(waking: true).first)
            // A Type 1 tag has no anticollision, and is not halted.
            if !target.isType1 { try await NFCAActivation(link: link).reactivate(target) }
            return try #require(makeForumTag(for: target, link: link))
        case .nfcB:
            let target = try #require(try await NFCBActivation(link: link).findAll(waking: true).first)
            return try #require(makeForumTag(for: target, link: link))
        case .nfcF:
            let target = try #require(try await NFCFPolling(link: link).poll(systemCode: 0x12FC).first).target
            return makeForumTag(for: target, link: link)
        case .nfcV:
            let target = try #require(try await NFCVInventory(link: link).findAll().first)
            return makeForumTag(for: target, link: link, isAlone: true)
        }
    }
}
