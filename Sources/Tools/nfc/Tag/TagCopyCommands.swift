// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxSupport
import NFCReaders
import NFCSessions
import TagImages
import TagLink
import TagProtocols
import VirtualTags

struct TagDumpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Read all of a tag that needs no key, and save it as an image.",
        discussion: """
            The image can be used in place of the tag, compared with it, and written
            back with nfc tag restore. The extension of the file sets the format; see
            nfc tag convert --help. Parts that could not be read are listed. Passwords,
            keys and protected memory can't be read. In the image they are missing, or
            zeros. If the format can't hold a part of the tag, a note on standard error
            says so; json can hold everything.

            Examples:
              nfc tag dump --out card.json
              nfc tag dump --reader pcsc --out card.nfc
              nfc tag dump card.nfc --out seen-by-a-reader.json --json

            Exit status: 0 when the image was written, 1 when the tag can't be stored,
            left, or was not found, 2 for wrong usage, 3 without a reader, 130 when
            cancelled.
            """
    )

    @OptionGroup var source: TagSourceOptions

    @OptionGroup var unlocking: UnlockOptions

    @Option(help: ArgumentHelp("The file to make; - for standard output.", valueName: "file"))
    var out: String

    @Option(help: "The format, if the file's name does not give it.")
    var format: TagImage.Format?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        try TagImage.Format.check(format, out: out, option: "--format")
        try OutputTarget.check(image: source.image, out: out, json: json)
    }

    func run() async throws {
        if let image = source.image, OutputFile.isOneFile(image, out) {
            let message = "\(out) is the image itself, and a dump can have less than it. Name another file."
            throw CommandFailure("same-file", message)
        }
        try ImageFile.checkPlace(out)
        let opening = try unlocking.opening()
        let (dump, reader) = try await source.dump("Hold the tag to dump near the reader.", unlock: opening)
        let format = format ?? TagImage.Format(path: out) ?? .json
        let lost = try ImageFile.save(TagImage(dump.contents, format: format), to: out, isLossy: true)
        if !lost.isEmpty { StandardError.writeLine("Note: \(out) does not have \(lost.joined(separator: ", ")).") }
        if !Set(lost).isDisjoint(with: ["unknown_octets", "unread_blocks"]) {
            let note =
                "Note: Unread data are zeros in this file, and nfc tag restore would write them. Save as json instead."
            StandardError.writeLine(note)
        }
        let report = TagReport(
            type: dump.findings.type,
            product: dump.findings.product ?? dump.contents.product,
            uid: dump.contents.uid,
            status: nil
        )
        printResult(
            json: json,
            beside: out,
            [
                "ok": true, "reader": reader, "tag_type": report.type?.rawValue, "product": report.product,
                "uid": report.uid.hexText(), "format": format.rawValue, "out": out, "unread": dump.unread, "lost": lost,
            ],
            [report.lines[0], "Saved as \(format.rawValue)"] + dump.unread.map { "Not read: \($0)" }
        )
    }
}

extension TagSourceArguments {
    /// Reads all of the tag on the reader, or of an image as a reader does. Also returns the reader's name.
    func dump(_ prompt: String, unlock opening: TagCredentials) async throws -> (value: TagDump, reader: String?) {
        try await read(prompt) { tag throws(TagError) in
            try await tag.open(opening)
            return try await tag.dump()
        }
    }
}

struct TagCompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare two images, or an image with the tag on a reader.",
        discussion: """
            It lists every difference: the UID, each page or block of the memory, locks,
            counters and settings. With one image, the tag on the reader is the other,
            and both are compared as a reader reads them, without passwords and keys.

            Examples:
              nfc tag compare before.nfc after.json
              nfc tag compare card.nfc --reader pcsc --json

            Exit status: 0 when there is no difference, 1 when there is one, an image is
            invalid, or no tag was found, 2 for wrong usage, 3 without a reader, 130
            when cancelled.
            """
    )

    @Argument(help: ArgumentHelp("The first image.", valueName: "image"))
    var first: String

    @OptionGroup var source: TagSourceOptions

    @OptionGroup var keys: ClassicKeyOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let opening = try keys.opening()
        let file = try ImageFile(path: first, id: nil)
        let (old, new): (TagContents, TagContents)
        var reader: String?
        if let image = source.image {
            (old, new) = (file.contents, try ImageFile(path: image, id: source.id).contents)
        } else {
            old = try await ImageTagRunner(file.makeTag(), unlock: opening).tag.dump().contents
            let (dump, name) = try await source.dump("Hold the tag to compare near the reader.", unlock: opening)
            (new, reader) = (dump.contents, name)
        }
        let differences = old.differences(to: new)
        printResult(
            json: json,
            [
                "ok": differences.isEmpty, "reader": reader, "product": old.product, "uid": old.uid.hexText(),
                "differences": differences.map(\.object),
            ],
            differences.isEmpty ? ["No difference"] : TagDifference.lines(differences)
        )
        if !differences.isEmpty { throw ExitCode(CommandFailure.Status.refused.rawValue) }
    }
}

struct TagRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Write the data of an image to a tag of the same type.",
        discussion: """
            It shows what will change, and asks first. Type 2 of the same product, and
            Types 1 and 5 and MIFARE Classic of the same memory, get all data of the
            image; Types 3 and 4, whose other data need keys, get its message. A tag
            never gets the locks, password, keys or settings of an image, because they
            could make it unusable; and the UID can't be changed. If the tag leaves in
            between, it has the old data, no message, or the new data: run the command
            again to complete it.

            Examples:
              nfc tag restore backup.json --reader pcsc
              nfc tag restore backup.json card.nfc --yes

            \(TagChangeOptions.exit)
            """
    )

    @Argument(help: ArgumentHelp("The image to write.", valueName: "from"))
    var from: String

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var unlocking: UnlockOptions

    func run() async throws {
        let file = try ImageFile(path: from, id: nil)
        let opening = try unlocking.opening()
        let message = try await file.message(opening)
        try await options.carryOut(
            "Hold the tag to write near the reader.",
            done: "The data are written.",
            unlock: opening,
            restoring(file.contents, message: message)
        )
    }
}

struct TagCloneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clone",
        abstract: "Copy the data of one tag to another of the same type.",
        discussion: """
            First hold the tag to copy near the reader, then the other one. It shows
            what will change, and asks first; nfc tag restore --help explains what is
            copied. The UID can't be copied.

            Examples:
              nfc tag clone
              nfc tag clone --reader pcsc --yes
              nfc tag clone card.nfc other.nfc --yes

            \(TagChangeOptions.exit)
            """
    )

    @Argument(help: ArgumentHelp("The image to copy.", valueName: "from"))
    var from: String?

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var keys: ClassicKeyOptions

    func validate() throws {
        guard (from == nil) == (options.image == nil) else {
            throw ValidationError("Give two images, or none for tags on a reader. For one image: nfc tag restore")
        }
    }

    func run() async throws {
        let opening = try keys.opening()
        let (contents, message, reader): (TagContents, [UInt8]?, String?)
        if let from {
            // Not as a reader sees it: the image marks what was not read.
            let file = try ImageFile(path: from, id: nil)
            (contents, message, reader) = (file.contents, try await file.message(opening), nil)
        } else {
            let (dump, name) = try await options.dump("Hold the tag to copy near the reader.", unlock: opening)
            (contents, message, reader) = (dump.contents, dump.findings.ndefStatus.message, name)
        }
        let restore = restoring(contents, message: message)
        try await options.carryOut(
            "Now hold the tag to write near the reader.",
            done: "The data are copied.",
            unlock: opening
        ) { tag, performs throws(TagError) in
            guard reader == nil || contents.uid != tag.target.identifier else {
                throw TagError(.unsupported, "This is the tag that was copied. Remove it, and hold the other one near.")
            }
            return try await restore(tag, performs)
        }
    }
}

extension ImageFile {
    fileprivate func message(_ opening: TagCredentials) async throws(TagError) -> [UInt8]? {
        try await ImageTagRunner.read(makeTag(), contents, unlock: TagCredentials(keys: opening.keys)).0.message
    }
}

/// Gives a tag the data of an image: the memory of Types 1, 2 and 5, or the message of Types 3 and 4.
private func restoring(_ contents: TagContents, message: [UInt8]?) -> TagChangeOptions.Change {
    { tag, performs throws(TagError) in
        let forumTag = try tag.ndef
        try await forumTag.prepare()
        var plan = await TagChangePlan(tag)
        let product = try await (forumTag as? Type2Tag)?.product()
        guard contents.tagType == forumTag.type?.rawValue, contents.type2?.product == product else {
            let name = plan.product ?? forumTag.type.map { "Type \($0.rawValue) tag" } ?? "MIFARE Classic"
            throw TagError(
                .unsupported,
                "The image is of another product, \(contents.product), than the tag, \(name). To copy only the message: "
                    + "nfc tag write --message HEX"
            )
        }
        plan.notes = ["Not copied: UID, capability container, locks, passwords, keys, counters and settings"]
        if case .type5(let label) = contents, !label.unreadBlocks.isEmpty {
            let count = RecordText.count(label.unreadBlocks.count, "block")
            plan.notes.append("Not copied: \(count) that could not be read")
        }
        // The keys of NDEF, which a new card does not have, are not copied.
        if let card = forumTag as? MIFAREClassic, message != nil { try await card.checkFormat() }
        if let memoryTag = forumTag as? any DataMemoryTag, let content = contents.data {
            try await plan.replace(memoryTag, with: content, performs)
            return plan
        }
        guard let message else { throw TagError(.noMessageTLV, "The image has no message to copy.") }
        let old = try await forumTag.messageToReplace(with: message)
        if old != message { plan.changes = [TagDifference("message", old.hexText(), message.hexText())] }
        guard performs, old != message else { return plan }
        try await forumTag.writeNDEF(message)
        try await forumTag.checkNDEF(message)
        return plan
    }
}

struct TagWipeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wipe",
        abstract: "Overwrite all data of a tag with zeros, and leave it empty.",
        discussion: """
            This can't be undone, so it shows what will change, and asks first. The tag
            stays formatted for NDEF, with an empty message. With --blank, zeros replace
            the formatting too, where the chip allows it: on Types 1 and 5. Locks,
            passwords and settings stay as they are. On Types 3 and 4, zeros replace the
            room of the message, up to 65,534 bytes.

            Examples:
              nfc tag wipe card.nfc --yes
              nfc tag wipe --reader pcsc
              nfc tag wipe label.json --blank --out blank.json --yes

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var unlocking: UnlockOptions

    @Flag(help: "Remove the formatting for NDEF too.")
    var blank = false

    func run() async throws {
        let content = blank ? DataContent.blank : .empty
        try await options.carryOut(
            "Hold the tag to wipe near the reader.",
            done: "The tag is empty.",
            unlock: unlocking.opening()
        ) { tag, performs throws(TagError) in
            let forumTag = try tag.ndef
            try await forumTag.prepare()
            var plan = await TagChangePlan(tag)
            plan.notes = ["This can't be undone"]
            if let memoryTag = forumTag as? any DataMemoryTag {
                try await plan.replace(memoryTag, with: content, performs)
                return plan
            }
            guard content == .empty else {
                let reason =
                    "The formatting of a Type \(forumTag.type?.rawValue ?? 4) tag can't be removed without a key."
                throw TagError(.unsupported, reason)
            }
            // A message of zeros as long as the tag, because its data can only be written as a message.
            let zeros = [UInt8](repeating: 0, count: min(0xFFFE, try await forumTag.detectNDEF().capacity))
            let old = try await forumTag.messageToReplace(with: zeros)
            plan.changes = [TagDifference("data", old.hexText(), "\(zeros.count) zeros")]
            guard performs else { return plan }
            try await forumTag.writeNDEF(zeros)
            try await forumTag.writeNDEF([])
            try await forumTag.checkNDEF([])
            return plan
        }
    }
}

struct TagFormatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "format",
        abstract: "Format a blank tag for NDEF, with an empty message.",
        discussion: """
            It formats Topaz, Ultralight, NTAG, FeliCa Lite and Lite-S, MIFARE Classic,
            MIFARE DESFire EV1 and later, and Type 5 tags, and asks first. A tag that is formatted
            already is not changed. On Type 2 tags the capability container is written
            to page 3, which can't be undone. nfc tag wipe --blank removes the formatting
            of Types 1 and 5.

            Examples:
              nfc tag format --reader pcsc
              nfc tag format blank.json --yes

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var keys: ClassicKeyOptions

    func run() async throws {
        try await options.carryOut(
            "Hold the tag to format near the reader.",
            done: "The tag is formatted.",
            unlock: keys.opening()
        ) { tag, performs throws(TagError) in
            let forumTag = try tag.ndef
            try await forumTag.prepare()
            var plan = await TagChangePlan(tag)
            do throws(TagError) {
                _ = try await forumTag.detectNDEF()
                return plan
            } catch {
                guard error.code == .noCapabilityContainer || error.code == .noMessageTLV else { throw error }
            }
            plan.changes = [TagDifference("formatting", nil, "empty message")]
            if forumTag is MIFAREClassic {
                plan.notes = ["Its sectors get the public keys of NDEF, with which everybody can read and write them"]
            }
            if forumTag.type == .type2 { plan.notes = ["Page 3 can be programmed only once, so this can't be undone"] }
            plan.notes.append("This overwrites data in the first blocks or pages")
            if performs { try await forumTag.format() }
            return plan
        }
    }
}

extension ForumTag {
    /// Returns the present message, after checking that another one can be written.
    fileprivate func messageToReplace(with message: [UInt8]) async throws(TagError) -> [UInt8] {
        let detection = try await detectNDEF()
        guard detection.access == .readWrite else { throw TagError(.readOnly, "The tag is read-only.") }
        guard message.count <= detection.capacity else {
            let reason = "The message has \(message.count) bytes, but the tag only has room for \(detection.capacity)."
            throw TagError(.messageTooLong, reason)
        }
        return try await readNDEF()
    }
}

extension TagChangePlan {
    /// Adds the replacement of a tag's data, and carries it out if `performs` is true.
    fileprivate mutating func replace(
        _ tag: any DataMemoryTag,
        with content: DataContent,
        _ performs: Bool
    ) async throws(TagError) {
        let writes = performs ? try await tag.replaceData(with: content) : try await tag.writes(for: content)
        add(writes, unit: tag.unitName)
    }
}

extension DataMemoryTag {
    /// The name of a unit that is written at once.
    fileprivate var unitName: String {
        switch self {
        case let tag as Type1Tag: tag.target?.isStatic == true ? "byte" : "block"
        case is Type2Tag: "page"
        default: "block"
        }
    }
}

extension TagContents {
    /// The memory of Types 1, 2 and 5 and of a MIFARE Classic; nil for other tags.
    fileprivate var data: DataContent? {
        switch self {
        case .type1(let contents): .dump(contents.memory)
        case .type2(let contents): .dump(contents.memory)
        case .type5(let contents): .dump(contents.memory, without: contents.unreadBlocks)
        case .classic(let contents): .dump(contents.memory, without: Set(contents.unknownBytes.map { $0 / 16 }))
        case .type3, .type4, .nfcA: nil
        }
    }
}
