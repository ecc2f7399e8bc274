// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import VirtualTags

/// A separate field, in which the drawer reads and changes a copy of a tag like a reader. The tag's locks apply.
struct VirtualTagEditor: Sendable {
    private let tag: any VirtualTag
    private let link: any FrameLink

    init?(_ contents: TagContents) {
        let field = VirtualField()
        tag = contents.makeTag()
        field.bring(tag)
        guard let link = field.link(for: tag.technology) else { return nil }
        self.link = link
    }

    /// The tag's current contents; nil if no image format can describe the card.
    var contents: TagContents? { TagContents(of: tag) }

    /// Reads the status and the message.
    func queryNDEFStatus() throws(TagError) -> NDEFStatusReport {
        try immediately { [self] () throws(TagError) in
            let tag = try await activate()
            try await tag.prepare()
            return try await tag.queryNDEFStatus()
        }
    }

    /// Writes a message.
    func write(_ message: [UInt8]) throws(TagError) {
        try immediately { [self] () throws(TagError) in
            let tag = try await activate()
            try await tag.prepare()
            try await tag.writeNDEF(message)
        }
    }

    /// Makes the tag read-only.
    func lock() throws(TagError) {
        try immediately { [self] () throws(TagError) in
            let tag = try await activate()
            try await tag.prepare()
            try await tag.lock()
        }
    }

    private func activate() async throws(TagError) -> any ForumTag {
        let none = TagError(.unsupported, "This kind of tag can't hold NDEF.")
        switch link.technology {
        case .nfcA:
            guard let target = try await NFCAActivation(link: link).activateAll().last else { throw none }
            guard let tag = makeForumTag(for: target, link: link) else {
                throw TagError(.unsupported, target.reasonWithoutNDEF)
            }
            return tag
        case .nfcB:
            guard let target = try await NFCBActivation(link: link).findAll().last,
                let tag = makeForumTag(for: target, link: link)
            else { throw none }
            return tag
        case .nfcF:
            let polling = NFCFPolling(link: link)
            guard let answer = try await polling.poll(systemCode: NFCFTarget.ndefSystemCode).first else {
                throw TagError(.noCapabilityContainer, "The tag does not have the NDEF system 12FC.")
            }
            return makeForumTag(for: answer.target, link: link)
        case .nfcV:
            guard let target = try await NFCVInventory(link: link).findAll().last else { throw none }
            return makeForumTag(for: target, link: link, isAlone: true)
        }
    }
}
