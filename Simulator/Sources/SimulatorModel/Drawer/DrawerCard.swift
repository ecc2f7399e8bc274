// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import VirtualTags

/// A tag in the drawer.
struct DrawerCard: Sendable {
    /// Identifies the tag in actions, and names its file. Consists of lower case letters, digits and hyphens.
    let id: String
    /// The name shown to users.
    var name: String
    /// The tag's file, as it was last read or written.
    private(set) var image: TagImage
    /// The virtual tag.
    private(set) var tag: any VirtualTag
    /// The number of changes of the memory.
    private(set) var memoryVersion = 1
    /// The memory when the tag was last brought near or edited by the user.
    private(set) var earlier: MemoryMap
    private(set) var summary: NDEFSummary
    /// Whether the tag was written after the summary was created.
    private(set) var isStale = false

    init(id: String, name: String, image: TagImage) {
        self.id = id
        self.name = name
        self.image = image
        tag = image.makeTag()
        earlier = MemoryMap(of: image.contents)
        summary = NDEFSummary(of: image.contents)
    }

    /// The tag's current contents.
    var contents: TagContents { TagContents(of: tag) ?? image.contents }

    /// Begins a new visit. Bytes that change from now on are marked as changed.
    mutating func visit() { earlier = MemoryMap(of: contents) }

    /// Records that a reader has written to the tag.
    mutating func wasWritten() {
        memoryVersion += 1
        isStale = true
    }

    /// Surveys the tag again if it was written.
    mutating func refresh() {
        guard isStale else { return }
        isStale = false
        image.contents = contents
        summary = NDEFSummary(of: image.contents)
    }

    /// Replaces the tag's contents by creating a new virtual tag.
    mutating func replace(_ contents: TagContents) {
        earlier = MemoryMap(of: self.contents)
        image.contents = contents
        tag = contents.makeTag()
        memoryVersion += 1
        isStale = false
        summary = NDEFSummary(of: contents)
    }

    /// The tag's file, in its original format, or as JSON if that format can't store the current contents.
    var file: (format: TagImage.Format, bytes: [UInt8])? {
        var image = image
        image.contents = contents
        if let bytes = try? image.encoded() { return (image.format, bytes) }
        return (try? TagImage(image.contents, format: .json).encoded()).map { (.json, $0) }
    }

    /// Short descriptions of the locked parts. Empty if the whole tag is read-only, because the status already says so.
    private var locks: [String] {
        guard summary.status != .readOnly else { return [] }
        switch image.contents {
        case .type2(let contents):
            var words: [String] = []
            let pages = contents.lockedPages.filter(contents.product.userPages.contains)
            if !pages.isEmpty { words.append(pages.count == 1 ? "1 page locked" : "\(pages.count) pages locked") }
            if let page = contents.firstProtectedPage { words.append("Password from page \(page) on") }
            return words
        case .type5(let contents) where !contents.lockedBlocks.isEmpty:
            return [
                contents.lockedBlocks.count == 1 ? "1 block locked" : "\(contents.lockedBlocks.count) blocks locked"
            ]
        default: return []
        }
    }

    /// Which actions the tag allows, and the reason for each that it doesn't.
    private var can: JSON {
        let noMessages = summary.problem ?? "This tag can't hold messages."
        switch summary.status {
        case .readWrite: return ["edit": true, "lock": true, "erase": true]
        case .password:
            return ["edit": true, "lock": true, "erase": true]
        case .readOnly:
            let reason: JSON = ["reason": "The tag is read-only. Erase it to make it like new."]
            return ["edit": reason, "lock": ["reason": "The tag is locked already."], "erase": true]
        case .notNDEF:
            return ["edit": ["reason": .string(noMessages)], "lock": ["reason": .string(noMessages)], "erase": true]
        }
    }

    /// The tag's radio technology.
    var technology: Technology { tag.technology }

    /// The card for the page.
    ///
    /// - Parameters:
    ///   - isNear: whether it is in the field.
    ///   - isHeld: whether the tag stays in the field until the user takes it away.
    func json(isNear: Bool, isHeld: Bool) -> JSON {
        let contents = image.contents
        let size = MemoryMap(of: contents).regions.reduce(0) { $0 + $1.bytes.count }
        return [
            "id": .string(id), "name": .string(name), "product": .string(contents.product),
            "technology": .string(technology.name), "tag_type": JSON(contents.tagType),
            "uid": .string(contents.uid.hex), "size": .int(size), "capacity": JSON(summary.capacity),
            "used": JSON(summary.message?.count), "status": .string(summary.status.rawValue),
            "problem": JSON(summary.problem),
            "message": MessageWords.records(of: summary.message ?? []),
            "message_hex": JSON(summary.message?.hex), "near": .bool(isNear), "holding": .bool(isHeld),
            "phone_can": PhoneLimits.reason(contents).map { ["reason": .string($0)] } ?? true,
            "memory_version": .int(memoryVersion), "format": .string(image.format.rawValue),
            "remarks": .array(image.remarks.map { .string($0.text) }), "locks": .array(locks.map { JSON.string($0) }),
            "can": can,
        ]
    }
}

extension Technology {
    /// The technology's name in messages, such as `nfc-a`.
    package var name: String {
        switch self {
        case .nfcA: "nfc-a"
        case .nfcB: "nfc-b"
        case .nfcF: "nfc-f"
        case .nfcV: "nfc-v"
        }
    }

    /// Creates a technology from its name in messages; nil if the name is unknown.
    package init?(name: String) {
        guard let technology = Technology.allCases.first(where: { $0.name == name }) else { return nil }
        self = technology
    }
}
