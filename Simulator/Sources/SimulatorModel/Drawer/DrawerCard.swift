// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagLink
import VirtualTags

/// A tag in the drawer.
struct DrawerCard: Sendable {
    /// Names the tag in actions, and its file. Lower case letters, digits and hyphens.
    let id: String
    /// Its name for people.
    var name: String
    /// The file of the tag, as it was read or last written.
    private(set) var image: TagImage
    /// The tag itself.
    private(set) var tag: any VirtualTag
    /// Counts the changes of the memory.
    private(set) var memoryVersion = 1
    /// The memory when the tag was last brought near or changed by a person.
    private(set) var earlier: MemoryMap
    private(set) var survey: TagSurvey
    /// Whether the tag was written since the survey.
    private(set) var isStale = false

    init(id: String, name: String, image: TagImage) {
        self.id = id
        self.name = name
        self.image = image
        tag = image.makeTag()
        earlier = MemoryMap(of: image.contents)
        survey = TagSurvey(of: image.contents)
    }

    /// What the tag holds now.
    var contents: TagContents { TagContents(of: tag) ?? image.contents }

    /// A new visit begins: what changes from now on is shown as changed.
    mutating func visit() { earlier = MemoryMap(of: contents) }

    /// A reader has written the tag.
    mutating func wasWritten() {
        memoryVersion += 1
        isStale = true
    }

    /// Looks at the tag again after writes.
    mutating func refresh() {
        guard isStale else { return }
        isStale = false
        image.contents = contents
        survey = TagSurvey(of: image.contents)
    }

    /// Replaces what the tag holds. The virtual tag is another one afterwards.
    mutating func replace(_ contents: TagContents) {
        earlier = MemoryMap(of: self.contents)
        image.contents = contents
        tag = contents.makeTag()
        memoryVersion += 1
        isStale = false
        survey = TagSurvey(of: contents)
    }

    /// The file, in the format in which it came, or as JSON where that format has no place for what the tag holds now.
    var file: (format: TagImage.Format, bytes: [UInt8])? {
        var image = image
        image.contents = contents
        if let bytes = try? image.encoded() { return (image.format, bytes) }
        return (try? TagImage(image.contents, format: .json).encoded()).map { (.json, $0) }
    }

    /// What is locked, in a few words each; the status says it where everything is.
    private var locks: [String] {
        guard survey.status != .readOnly else { return [] }
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

    /// What can't be done with the tag, with the reason.
    private var can: JSON {
        let noMessages = survey.problem ?? "This tag holds no messages."
        switch survey.status {
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

    /// How the tag speaks.
    var technology: Technology { tag.technology }

    /// The card for the page.
    ///
    /// - Parameters:
    ///   - isNear: whether it is in the field.
    ///   - isHeld: whether it stays there until someone takes it away.
    func json(isNear: Bool, isHeld: Bool) -> JSON {
        let contents = image.contents
        let size = MemoryMap(of: contents).regions.reduce(0) { $0 + $1.bytes.count }
        return [
            "id": .string(id), "name": .string(name), "product": .string(contents.product),
            "technology": .string(technology.name), "tag_type": JSON(contents.tagType),
            "uid": .string(contents.uid.hex), "size": .int(size), "capacity": JSON(survey.capacity),
            "used": JSON(survey.message?.count), "status": .string(survey.status.rawValue),
            "problem": JSON(survey.problem),
            "message": MessageWords.records(of: survey.message ?? []),
            "message_hex": JSON(survey.message?.hex), "near": .bool(isNear), "holding": .bool(isHeld),
            "phone_can": PhoneLimits.reason(contents).map { ["reason": .string($0)] } ?? true,
            "memory_version": .int(memoryVersion), "format": .string(image.format.rawValue),
            "remarks": .array(image.remarks.map { .string($0.text) }), "locks": .array(locks.map { JSON.string($0) }),
            "can": can,
        ]
    }
}

extension Technology {
    /// The name in messages, such as `nfc-a`.
    package var name: String {
        switch self {
        case .nfcA: "nfc-a"
        case .nfcB: "nfc-b"
        case .nfcF: "nfc-f"
        case .nfcV: "nfc-v"
        }
    }

    /// The technology of a name.
    package init?(name: String) {
        guard let technology = Technology.allCases.first(where: { $0.name == name }) else { return nil }
        self = technology
    }
}
