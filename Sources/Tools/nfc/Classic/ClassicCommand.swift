// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxSupport
import NFCSessions
import TagImages
import TagLink
import TagProtocols
import TextSafety
import VirtualTags

struct ClassicCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "classic",
        abstract: "Show and change the sectors, keys and values of a MIFARE Classic.",
        discussion: """
            For what nfc tag has no place for: which key opens which sector, single
            blocks, values, and keys. nfc tag info, read, write, format, lock, dump,
            restore and wipe know these cards too, with the same --keys.

            Examples:
              nfc classic show
              nfc classic show card.mfd --keys keys.txt --json
              nfc classic block --number 5 --hex 00112233445566778899aabbccddeeff
              nfc classic keys card.mfd --sector 1 --key-a file:new.txt --access read-only
            """,
        subcommands: [ClassicShowCommand.self, ClassicBlockCommand.self, ClassicKeysCommand.self]
    )
}

struct ClassicShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show which key opens which sector, the access conditions, values and applications.",
        discussion: """
            Well-known keys are shown, others by their number in --keys.

            Examples:
              nfc classic show
              nfc classic show card.json --keys keys.txt --json

            \(TagSourceHelp.exit)
            """
    )

    @OptionGroup var source: TagSourceOptions

    @OptionGroup var keys: ClassicKeyOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let opening = try keys.opening()
        let (sectors, reader) = try await source.read { tag throws(TagError) in
            let card = try await tag.classic(opening)
            let directory = try? await card.readDirectory()
            var sectors: [SectorReport] = []
            for sector in 0..<card.sectorCount {
                var report = SectorReport(sector: sector, application: directory?[sector]?.hexText())
                for isB in [false, true] {
                    guard let key = try await card.key(.init(sector, isB: isB)) else { continue }
                    let number = opening.keys.firstIndex(of: key).map { "no. \($0 + 1) of --keys" }
                    let isPublic = MIFAREClassic.publicKeys.contains(key)
                    report.keys[isB ? "B" : "A"] = isPublic ? key.hexText() : number
                }
                report.access = try await card.access(ofSector: sector)
                for block in ClassicProduct.blocks(ofSector: sector).dropLast() {
                    report.values[block] = try await card.read(block).flatMap { ClassicValue($0) }?.amount
                }
                sectors.append(report)
            }
            return sectors
        }
        let object: JSONObject = ["ok": true, "reader": reader, "sectors": sectors.map(\.object)]
        printResult(json: json, object, sectors.flatMap(\.lines))
    }
}

/// What is known about a sector.
private struct SectorReport: Sendable {
    var sector: Int
    var application: String?
    var keys: [String: String] = [:]
    var access: ClassicAccess?
    var values: [Int: Int32] = [:]

    /// The blocks of data, and the keys that may do something with them.
    private var blocks: [(block: Int, rights: [(name: String, keys: String)])] {
        guard let access else { return [] }
        return ClassicProduct.blocks(ofSector: sector).dropLast().map { block in
            (block, ClassicAccess.Right.ofData.map { ("\($0)", access.keys(for: $0, ofBlock: block).text) })
        }
    }

    private var changes: String? {
        access.map { $0.keys(for: .writeKeyA).union($0.keys(for: .writeKeyB)).text }
    }

    var object: JSONObject {
        let blocks: [JSONObject] = blocks.map { block, rights in
            rights.reduce(["block": block, "value": values[block].map { Int($0) }]) { $0 + [$1.name: $1.keys] }
        }
        return [
            "sector": sector, "key_a": keys["A"], "key_b": keys["B"], "access_hex": access?.bytes.hexText(),
            "application": application, "keys": changes, "blocks": blocks,
        ]
    }

    var lines: [String] {
        let known = keys.sorted { $0.key < $1.key }.map { "\($0) \($1)" }.joined(separator: ", ")
        let title = "Sector \(sector): \(known.isEmpty ? "no known key" : known)"
        var lines = [title + (application.map { ", application \($0)" } ?? "")]
        for (block, rights) in blocks {
            let words = rights.map { "\($0) \($1)" }.joined(separator: ", ")
            lines.append("  block \(block): \(words)" + (values[block].map { "; value \($0)" } ?? ""))
        }
        return lines + (changes.map { ["  change keys: \($0)"] } ?? [])
    }
}

struct ClassicBlockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "block",
        abstract: "Read or write a block, or change its value.",
        discussion: """
            --set makes any block a value. --add needs only the right to increment, or
            to decrement for less than 0. If the card leaves in between, it has the old
            or the new bytes, so read a value before you add to it again. Block 0 has the UID; only some copies let it be written.

            Examples:
              nfc classic block card.mfd --number 4 --keys env:KEYS --json
              nfc classic block --number 5 --hex 00112233445566778899aabbccddeeff
              nfc classic block --number 4 --add=-5

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var keys: ClassicKeyOptions

    @Option(help: ArgumentHelp("The number of the block.", valueName: "n"))
    var number: UInt8

    @Option(help: ArgumentHelp("Write these 16 bytes.", valueName: "hex"))
    var hex: HexArgument?

    @Option(help: ArgumentHelp("Write this value.", valueName: "n"))
    var set: Int32?

    @Option(help: ArgumentHelp("Add this to the value; less than 0 to subtract.", valueName: "n"))
    var add: Int32?

    func validate() throws {
        let changes = [hex != nil, set != nil, add != nil].count { $0 }
        guard changes < 2 else { throw ValidationError("Give one of --hex, --set and --add.") }
        guard changes == 0 || ClassicProduct.sector(ofTrailer: Int(number)) == nil else {
            throw ValidationError("Block \(number) has the keys of a sector. Use nfc classic keys.")
        }
        guard let bytes = hex?.bytes else { return }
        guard bytes.count == 16 else { throw ValidationError("--hex takes the 16 bytes of a block.") }
    }

    func run() async throws {
        let (block, bytes, set, add) = (Int(number), hex?.bytes, set, add)
        guard bytes != nil || set != nil || add != nil else {
            let opening = try keys.opening()
            let (bytes, reader) = try await options.read { tag throws(TagError) in
                try await tag.classic(opening).readRequired(block)
            }
            let value = ClassicValue(bytes).map { Int($0.amount) }
            let object: JSONObject = [
                "ok": true, "reader": reader, "block": block, "data_hex": bytes.hexText(), "value": value,
            ]
            return printResult(json: options.json, object, [bytes.hexText()] + (value.map { ["Value \($0)"] } ?? []))
        }
        try await options.change(try keys.opening(), "The block is written.") { card, plan, performs throws(TagError) in
            let old = try await card.readRequired(block)
            let value = ClassicValue(old)
            guard add == nil || value != nil else { throw TagError(.unsupported, "Block \(block) has no value.") }
            let (sum, overflow) = (value?.amount ?? 0).addingReportingOverflow(add ?? 0)
            guard !overflow else { throw TagError(.unsupported, "A value has 32 bits; the sum does not fit.") }
            let new = bytes ?? ClassicValue(set ?? sum, address: value?.address ?? UInt8(block)).bytes
            guard old != new else { return }
            // A wrong check byte would make a card with a short UID unusable (ISO/IEC 14443-3, 6.5.4).
            guard block > 0 || card.target.uid.count != 4 || new[..<5].reduce(0, ^) == 0 else {
                let reason = "The fifth byte of block 0 must be the XOR of the four before it, or the card is lost."
                throw TagError(.unsupported, reason)
            }
            plan.changes.append(TagDifference("block \(block)", old.hexText(), new.hexText()))
            if !performs { return }
            if let add { try await card.add(add, to: block) } else { try await card.write(new, to: block) }
        }
    }
}

struct ClassicKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Change the keys and the access conditions of a sector.",
        discussion: """
            A key is hex:…, file:PATH or env:NAME, as for --keys, or ask. --access is one of
              transport     as new: both keys do all, and key A changes the keys
              read-write    both keys read and write, key B changes the keys
              write-with-b  both keys read, key B writes and changes the keys
              read-only     both keys read; nothing can ever be changed again
            or the three bytes of the data sheet in hex, which are checked. What is not
            given stays. Keep the new keys: nothing can replace them.

            Examples:
              nfc classic keys --sector 1 --key-a ask --key-b ask --access write-with-b
              nfc classic keys card.mfd --sector 1 --access read-only --yes

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var keys: ClassicKeyOptions

    @Option(help: ArgumentHelp("The sector.", valueName: "n"))
    var sector: Int

    @Option(help: "The new key A.")
    var keyA: String?

    @Option(help: "The new key B.")
    var keyB: String?

    @Option(help: ArgumentHelp("The new access conditions.", valueName: "name-or-hex"))
    var access: ClassicAccessArgument?

    func validate() throws {
        guard (0..<40).contains(sector) else { throw ValidationError("--sector must be 0 to 39.") }
        guard keyA != nil || keyB != nil || access != nil else {
            throw ValidationError("Say what to change: --key-a, --key-b or --access.")
        }
    }

    func run() async throws {
        let newA = try ClassicKeyOptions.newKey(keyA, of: "--key-a")
        let newB = try ClassicKeyOptions.newKey(keyB, of: "--key-b")
        let (sector, access) = (sector, access?.access)
        var opening = try keys.opening()
        // A card that an earlier run has lost may have them already.
        opening.keys += [newA, newB].compactMap { $0 }
        try await options.change(opening, "The keys are changed.") { card, plan, performs throws(TagError) in
            guard sector < card.sectorCount else {
                throw TagError(.unsupported, "The card has \(card.sectorCount) sectors.")
            }
            let present = try await card.access(ofSector: sector)
            let trailer = try await card.trailer(ofSector: sector, keyA: newA, access: access, keyB: newB)
            _ = try await card.slot(toWrite: ClassicProduct.trailer(ofSector: sector))
            for (name, key) in [("key A", newA), ("key B", newB)] where key != nil {
                plan.changes.append(TagDifference(name, "set", "another key"))
            }
            if let access, access != present {
                let new = access.bytes.hexText()
                plan.changes.append(TagDifference("access conditions", present?.bytes.hexText(), new))
            }
            let later = access ?? present
            if later?.keys(for: .writeAccess).isEmpty == true {
                plan.notes.append("The access conditions can never be changed after this")
            }
            if newB != nil, later?.isKeyBReadable == true { plan.notes.append("Key A can then read key B") }
            if performs { try await card.writeTrailer(trailer, ofSector: sector) }
        }
    }
}

// MARK: Options

/// What opens a tag for a command: its password, and keys of a MIFARE Classic.
struct TagCredentials: Sendable {
    var password: TagSecret?
    var keys: [[UInt8]] = []
}

struct ClassicKeyOptions: ParsableArguments {
    static let help = ArgumentHelp(
        "Keys of a MIFARE Classic: a file with 12 hex digits on each line, env:NAME, or hex:…, which other users "
            + "can see. Well-known keys are always tried.",
        valueName: "keys"
    )

    @Option(help: Self.help)
    var keys: String?

    func opening() throws -> TagCredentials { try Self.opening(keys) }

    /// The keys of `--keys`, in their order.
    ///
    /// - Throws: ``CommandFailure``, which never contains a key.
    static func opening(_ keys: String?) throws -> TagCredentials {
        guard let keys else { return TagCredentials() }
        let isGiven = ["hex:", "env:", "file:"].contains { keys.hasPrefix($0) }
        return TagCredentials(keys: try Self.keys(in: isGiven ? keys : "file:" + keys, of: "--keys"))
    }

    private static func keys(in text: String, of option: String) throws -> [[UInt8]] {
        let lines = try Secret.text(text).replacing("hex:", with: "").split(omittingEmptySubsequences: false) {
            $0.isNewline || $0 == ","
        }
        var keys: [[UInt8]] = []
        for (index, line) in lines.enumerated() {
            let digits = line.prefix { $0 != "#" }.filter { !$0.isWhitespace }
            if digits.isEmpty { continue }
            guard let key = HexArgument(argument: String(digits))?.bytes, key.count == 6 else {
                let place = lines.count > 1 ? "Line \(index + 1) of \(option)" : "What \(option) gives"
                throw CommandFailure(.usage, "bad-key", "\(place) is no key: a key has 12 hex digits.")
            }
            keys.append(key)
        }
        return keys
    }

    /// The new key that an option describes; nil for none.
    static func newKey(_ text: String?, of option: String) throws -> [UInt8]? {
        guard let text else { return nil }
        let keys = text == "ask" ? [try Secret.read(nil, "key", isNew: true)] : try keys(in: text, of: option)
        guard keys.count == 1, keys[0].count == 6 else {
            throw CommandFailure(.usage, "bad-key", "\(option) takes one key of six bytes.")
        }
        return keys[0]
    }
}

struct ClassicAccessArgument: ExpressibleByArgument {
    let access: ClassicAccess

    init?(argument: String) {
        let names: [String: ClassicAccess] = [
            "transport": .transport, "read-write": .readWrite, "write-with-b": .writeWithB, "read-only": .readOnly,
        ]
        guard let access = names[argument] ?? HexArgument(argument: argument).flatMap({ ClassicAccess($0.bytes) })
        else { return nil }
        self.access = access
    }
}

extension ClassicAccess.Keys {
    /// The keys in words, such as `A or B`.
    fileprivate var text: String { self == .both ? "A or B" : self == .a ? "A" : self == .b ? "B" : "never" }
}

extension ActivatedTag {
    fileprivate func classic(_ opening: TagCredentials) async throws(TagError) -> MIFAREClassic {
        try await open(opening)
        if let card = try ndef as? MIFAREClassic { return card }
        throw TagError(.unsupported, "This tag is not a MIFARE Classic.")
    }
}

extension TagChangeOptions {
    /// Carries out a change of a card.
    fileprivate func change(
        _ opening: TagCredentials,
        _ done: String,
        _ work: @escaping @Sendable (MIFAREClassic, inout TagChangePlan, Bool) async throws(TagError) -> Void
    ) async throws {
        try await carryOut("Hold the card near the reader.", done: done, unlock: opening) {
            tag,
            performs throws(TagError) in
            var plan = await TagChangePlan(tag)
            try await work(try await tag.classic(opening), &plan, performs)
            return plan
        }
    }
}
