// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagLink
import TagProtocols
import VirtualTags

/// Runs procedures on an image's virtual tag, activated as in a session.
struct ImageTagRunner {
    private let field = VirtualField()
    private let uid: [UInt8]
    let tag: ActivatedTag

    init(_ virtualTag: any VirtualTag, unlock opening: TagCredentials = TagCredentials()) async throws(TagError) {
        field.bring(virtualTag)
        guard let link = field.link(for: virtualTag.technology) else {
            throw TagError(.unsupported, "The virtual field doesn't support the tag's technology yet.")
        }
        uid = virtualTag.identifier
        let (target, forumTag) = try await Self.activate(over: link)
        try await forumTag.prepare()
        tag = ActivatedTag(target: target, link: link, forumTag: forumTag, origin: .zero)
        try await tag.open(opening)
    }

    /// Activates and reads a tag like a session does, even if it can't hold NDEF. Returns the report, and an error if
    /// the tag holds no NDEF or does not answer.
    static func read(
        _ virtualTag: any VirtualTag,
        _ contents: TagContents,
        unlock opening: TagCredentials = TagCredentials()
    ) async throws(TagError) -> (TagReport, TagError?) {
        let runner: ImageTagRunner
        do throws(TagError) {
            if case .nfcA = contents {
                throw TagError(.unsupported, "The image has only the tag's activation data, and no memory.")
            }
            runner = try await ImageTagRunner(virtualTag)
        } catch {
            // A hidden or destroyed tag does not answer.
            let isSilent = error.code == .tagLost
            guard isSilent || error.meansNotNDEF || error.code == .unsupported else { throw error }
            let type = contents.tagType.flatMap { ForumTagType(rawValue: $0) }
            let status = isSilent ? nil : TagReport.Status.notNDEF
            return (TagReport(type: type, product: contents.product, uid: contents.uid, status: status), error)
        }
        try await runner.tag.open(opening)
        return try await runner.read(product: contents.product)
    }

    private static func activate(
        over link: any FrameLink
    ) async throws(TagError) -> (target: TagTarget, tag: any ForumTag) {
        let silent = TagError(.tagLost, "The tag of the image does not answer.")
        switch link.technology {
        case .nfcA:
            guard let target = try await NFCAActivation(link: link).activateAll().last else { throw silent }
            if let tag = makeForumTag(for: target, link: link) { return (.nfcA(target), tag) }
            if target.isMIFAREClassic { return (.nfcA(target), MIFAREClassic(target: target, link: link)) }
            throw TagError(.unsupported, target.reasonWithoutNDEF)
        case .nfcB:
            guard let target = try await NFCBActivation(link: link).findAll().last else { throw silent }
            if let tag = makeForumTag(for: target, link: link) { return (.nfcB(target), tag) }
            throw TagError(.unsupported, "This is an image of a Type B card without ISO-DEP, which can't hold NDEF.")
        case .nfcF:
            let polling = NFCFPolling(link: link)
            // A blank FeliCa Lite-S has no NDEF system yet.
            var answer = try await polling.poll(systemCode: NFCFTarget.ndefSystemCode).first
            if answer == nil { answer = try await polling.poll(systemCode: NFCFTarget.anySystemCode).first }
            guard let answer else { throw silent }
            return (.nfcF(answer.target), makeForumTag(for: answer.target, link: link))
        case .nfcV:
            guard let target = try await NFCVInventory(link: link).findAll().last else { throw silent }
            return (.nfcV(target), makeForumTag(for: target, link: link, isAlone: true))
        }
    }

    func arm(_ plan: FaultPlan) { field.arm(plan) }

    /// Reads the tag's status and message like a session does. Returns the report, and an error if the tag holds no
    /// NDEF.
    func read(product: String?) async throws(TagError) -> (TagReport, TagError?) {
        var findings = try await tag.read()
        findings.identifier = uid
        findings.product = product
        return (TagReport(findings), findings.ndefStatus.error)
    }
}
