// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagProtocols
import VirtualTags

/// The actions on the drawer.
extension SimulatorState {
    mutating func performOnDrawer(_ name: String, _ action: JSON) throws(SimulatorFailure) -> JSON? {
        switch name {
        case "list": return ["tags": tagList]
        case "products": return ["products": NewTag.products]
        case "new_tag":
            let contents = try NewTag.contents(action)
            let card = try drawer.add(name: action["name"]?.string, TagImage(contents, format: .json))
            appended(card)
            return ["tag": .string(card.id)]
        case "duplicate": return added(try drawer.duplicate(drawer.find(action["tag"]?.string)))
        case "rename":
            let card = try drawer.find(action["tag"]?.string)
            try drawer.rename(card.id, to: action["name"]?.string)
            return ["tag": .string(card.id)]
        case "edit_message": return try edit(action)
        case "lock_tag": return try lock(action)
        case "erase": return try erase(action)
        case "delete":
            let card = try drawer.find(action["tag"]?.string)
            remove(card.id)
            drawer.delete(card.id)
            touch(.tags)
            return ["tag": .string(card.id)]
        case "undo_delete": return added(try drawer.undoDelete())
        case "import": return try importFile(action)
        case "export_tag": return try export(action)
        case "memory": return memory(try drawer.find(action["tag"]?.string))
        case "message":
            let card = try drawer.find(action["tag"]?.string)
            return [
                "tag": .string(card.id), "hex": .string(card.summary.message?.hex ?? ""),
                "records": MessageWords.records(of: card.summary.message ?? [], isWhole: true),
                "problem": JSON(card.summary.problem),
            ]
        case "encode":
            guard let message = try MessageRequest.message(of: action) else {
                throw .invalid("The message is missing: give message_hex, records, link, text, contact or wifi.")
            }
            return ["size": .int(message.count), "hex": .string(message.hex)]
        default: return nil
        }
    }

    /// The list of tags, as sent to the pages.
    var tagList: JSON { .array(drawer.cards.map { tagJSON($0) }) }

    func tagJSON(_ card: DrawerCard) -> JSON {
        card.json(isNear: field.isNear(card.id), isHeld: field.held.contains(card.id))
    }

    /// Records a new tag at the end of the list. A page appends a single tag by itself; for several tags, the page
    /// needs their order.
    private mutating func appended(_ card: DrawerCard) {
        if appendedTag == nil { appendedTag = card.id } else { touch(.tags) }
        touch(.summary)
    }

    private mutating func added(_ card: DrawerCard) -> JSON {
        touch(.tags)
        return ["tag": .string(card.id)]
    }

    /// Replaces a tag's contents, even while the tag is near the phone.
    private mutating func replace(_ card: DrawerCard, _ contents: TagContents) -> JSON {
        drawer.update(card.id) { $0.replace(contents) }
        if let tag = drawer[card.id]?.tag { field.replace(card.id, by: tag) }
        return ["tag": .string(card.id)]
    }

    private mutating func edit(_ action: JSON) throws(SimulatorFailure) -> JSON {
        let card = try drawer.find(action["tag"]?.string)
        guard let message = try MessageRequest.message(of: action) else {
            throw .invalid("The message is missing: give message_hex, records, link, text, contact or wifi.")
        }
        return replace(card, try NewTag.written(message, on: card.contents))
    }

    private mutating func lock(_ action: JSON) throws(SimulatorFailure) -> JSON {
        let card = try drawer.find(action["tag"]?.string)
        guard let editor = VirtualTagEditor(card.contents) else {
            throw SimulatorFailure("unsupported", "No reader can detect this tag.")
        }
        do throws(TagError) {
            try editor.lock()
        } catch {
            throw SimulatorFailure("\(error.code)", error.reason)
        }
        return replace(card, editor.contents ?? card.contents)
    }

    /// Resets the tag to a new one of the same product and UID. Also removes locks, which is impossible on a real tag.
    private mutating func erase(_ action: JSON) throws(SimulatorFailure) -> JSON {
        let card = try drawer.find(action["tag"]?.string)
        if let blank = card.blank { return replace(card, blank) }
        return replace(card, try NewTag.written([], on: card.contents))
    }

    // MARK: Files

    private mutating func importFile(_ action: JSON) throws(SimulatorFailure) -> JSON {
        guard let text = action["base64"]?.string, text.utf8.count <= TagImage.maximumSize * 4 / 3 + 4 else {
            throw .invalid("\"base64\" must be the file, at most \(TagImage.maximumSize) bytes.")
        }
        guard let data = Data(base64Encoded: text) else { throw .invalid("\"base64\" is not Base64.") }
        let (card, remarks) = try importFile(name: action["name"]?.string ?? "Imported tag", [UInt8](data))
        return ["tag": .string(card.id), "notes": .array(remarks.map { JSON.string($0) })]
    }

    /// Adds the tag from a file in any format.
    mutating func importFile(
        name: String,
        _ bytes: [UInt8]
    ) throws(SimulatorFailure) -> (card: DrawerCard, remarks: [String]) {
        let image: TagImage
        do throws(TagImageError) {
            image = try TagImage(parsing: bytes, as: TagImage.Format(fileName: name))
        } catch {
            let place = error.line.map { " (line \($0))" } ?? ""
            throw SimulatorFailure("\(error.code)", error.reason + place)
        }
        // Any file of the right size is valid as a memory dump, but a text file (`.eml`) must not be taken for one.
        if name.lowercased().hasSuffix(".eml"), image.format == .proxmarkBinary || image.format == .mfd {
            throw SimulatorFailure(
                "unknown-format",
                "An .eml file consists of hexadecimal digits, but this one has none."
            )
        }
        let stem = name.split(separator: "/").last.map(String.init) ?? name
        let title = stem.split(separator: ".").first.map(String.init) ?? stem
        let card = try drawer.add(name: (try? Drawer.name(title)) ?? image.product, image)
        appended(card)
        return (card, image.remarks.map(\.text))
    }

    private func export(_ action: JSON) throws(SimulatorFailure) -> JSON {
        let card = try drawer.find(action["tag"]?.string)
        let (name, bytes) = try exportFile(card, format: action["format"]?.string)
        return ["name": .string(name), "base64": .string(Data(bytes).base64EncodedString())]
    }

    /// Encodes a tag as a file.
    func exportFile(_ card: DrawerCard, format name: String?) throws(SimulatorFailure) -> (name: String, bytes: [UInt8])
    {
        let formats = TagImage.Format.allCases.filter(\.isWritten)
        guard let name, !name.isEmpty else {
            guard let file = card.file else {
                throw SimulatorFailure("lossy", "This tag can't be saved in any format.")
            }
            return ("\(card.id).\(file.format.fileExtension)", file.bytes)
        }
        guard let format = formats.first(where: { $0.rawValue == name }) else {
            throw .invalid("The formats for this tag are \(formats.map(\.rawValue).joined(separator: ", ")).")
        }
        var image = TagImage(card.contents, format: format)
        if card.image.format == format {
            image = card.image
            image.contents = card.contents
        }
        do throws(TagImageError) {
            return ("\(card.id).\(format.fileExtension)", try image.encoded())
        } catch {
            throw SimulatorFailure("\(error.code)", error.reason)
        }
    }

    private func memory(_ card: DrawerCard) -> JSON {
        [
            "tag": .string(card.id), "version": .int(card.memoryVersion),
            "regions": MemoryMap(of: card.contents).json(since: MemoryMap(of: card.earlier)),
        ]
    }
}

extension TagImage.Format {
    /// The format of a file that only its name can identify: a memory dump without a header.
    package init?(fileName: String) {
        let name = fileName.lowercased()
        if name.hasSuffix(".mfd") {
            self = .mfd
        } else if name.hasSuffix(".bin") {
            self = .proxmarkBinary
        } else {
            return nil
        }
    }

    /// The file name extension of this format.
    package var fileExtension: String {
        switch self {
        case .flipper: "nfc"
        case .json: "json"
        case .proxmarkJSON: "pm3.json"
        case .proxmarkBinary: "bin"
        case .proxmarkText: "eml"
        case .mfd: "mfd"
        case .mct: "mct"
        case .tagInfo: "xml"
        }
    }
}
