// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import TagProtocols
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
    /// The contents when the tag was last brought near or edited by the user.
    private(set) var earlier: TagContents
    private(set) var summary: NDEFSummary
    /// What the page shows of the contents, which are slow to describe.
    private var shown: [String: JSON] = [:]
    /// Whether the tag was written after the summary was created.
    private(set) var isStale = false

    init(id: String, name: String, image: TagImage) {
        self.id = id
        self.name = name
        self.image = image
        tag = image.makeTag()
        earlier = image.contents
        summary = NDEFSummary(of: image.contents)
        shown = description
    }

    /// The tag's current contents.
    var contents: TagContents { TagContents(of: tag) ?? image.contents }

    /// Begins a new visit. Bytes that change from now on are marked as changed.
    mutating func visit() { earlier = contents }

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
        shown = description
    }

    /// Replaces the tag's contents by creating a new virtual tag.
    mutating func replace(_ contents: TagContents) {
        earlier = self.contents
        image.contents = contents
        tag = contents.makeTag()
        memoryVersion += 1
        isStale = false
        summary = NDEFSummary(of: contents)
        shown = description
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

    /// The tag as it left the factory; nil if its product is unknown or has more than a memory.
    var blank: TagContents? {
        guard let product = TagProduct(named: contents.model), product.identifierLengths.contains(contents.uid.count)
        else { return nil }
        var size: Int?
        if let sizes = product.sizes, let capacity = summary.capacity {
            size = min(max(capacity, sizes.lowerBound), sizes.upperBound)
        }
        return product.blank(uid: contents.uid, size: size)
    }

    /// Which actions the tag allows, and the reason for each that it doesn't. Erasing removes the whole contents, or only
    /// the message.
    private var can: JSON {
        let refusal = { (reason: String) -> JSON in ["reason": .string(reason)] }
        var (edit, lock, erase): (JSON, JSON, JSON) = (true, true, "all")
        switch summary.status {
        case .readWrite, .password: if let reason = lockRefusal { lock = refusal(reason) }
        case .readOnly:
            edit = refusal("The tag is read-only. Erase it to make it like new.")
            lock = refusal("The tag is locked already.")
        case .notNDEF:
            edit = refusal(summary.problem ?? "This tag can't hold messages.")
            lock = edit
        }
        if blank == nil {
            let isWritable = summary.status == .readWrite
            erase =
                isWritable
                ? "message" : refusal("The contents of this tag can't be erased. Delete it, and make a new one.")
            if !isWritable, summary.status == .readOnly { edit = refusal("The tag is read-only.") }
        }
        return ["edit": edit, "lock": lock, "erase": erase]
    }

    /// Why a reader can't lock the tag; nil if it can. Cards of Type 4 decide that themselves.
    private var lockRefusal: String? {
        guard case .type4 = image.contents, let editor = VirtualTagEditor(image.contents) else { return nil }
        do throws(TagError) {
            try editor.lock()
            return nil
        } catch {
            return error.reason
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
        .object(
            shown.merging([
                "id": .string(id), "name": .string(name), "near": .bool(isNear), "holding": .bool(isHeld),
                "memory_version": .int(memoryVersion),
            ]) { $1 }
        )
    }

    private var description: [String: JSON] {
        let contents = image.contents
        let size = MemoryMap(of: contents).regions.reduce(0) { $0 + $1.bytes.count }
        return [
            "product": .string(contents.product), "technology": .string(technology.name),
            "tag_type": JSON(contents.tagType), "uid": .string(contents.uid.hex), "size": .int(size),
            "capacity": JSON(summary.capacity),
            "used": JSON(summary.message?.count), "status": .string(summary.status.rawValue),
            "problem": JSON(summary.problem),
            "message": MessageWords.records(of: summary.message ?? []),
            "message_hex": JSON(summary.message?.hex),
            "phone_can": PhoneLimits.reason(contents).map { ["reason": .string($0)] } ?? true,
            "format": .string(image.format.rawValue),
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
