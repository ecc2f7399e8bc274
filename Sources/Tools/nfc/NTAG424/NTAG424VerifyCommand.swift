// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardCryptography
import Foundation
import Glibc
import LinuxSupport
import TagLink

struct NTAG424VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a link that an NTAG 424 DNA wrote, as a server does.",
        discussion: """
            It decrypts the UID and the counter of readings, or reads them from the
            link, and checks the code (CMAC). A copied link stays genuine, but its
            counter does not grow: refuse it with --counter-above, or with --last,
            which keeps the last counter of each UID in a file.

            The parameters of the link are found by their usual names:
              encrypted UID and counter  picc_data, picc, e
              code                       cmac, mac, c, m
              UID                        uid, u
              counter                    ctr, counter, n
              encrypted data             enc
            A tag in LRP mode is known by its longer encrypted UID and counter, 48 digits
            in place of 32, or by its code. An NTAG 223 DNA or 224 DNA writes UID, counter
            and code in one parameter, with x in between; --key is then the key of its SUN
            message.

            The code covers the link from the encrypted data to the code, or nothing
            if there are no encrypted data. For other tags, --mac-from names the
            parameter where this part begins.

            Examples:
              nfc ntag424 verify --key-file key.txt --last seen.json \\
                'https://example.com/t?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086'
              nfc ntag424 verify --key-file key.txt --counter-above 5 --json \\
                'https://example.com/?uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3'

            Exit status: 0 when the link is genuine and new, 1 when it is not, 2 for
            wrong usage.
            """
    )

    @Argument(help: ArgumentHelp("The link, as the tag wrote it.", valueName: "url"))
    var link: String

    @OptionGroup var keyOptions: LinkKeyOptions

    @Option(help: ArgumentHelp("The parameter with the encrypted UID and counter.", valueName: "name"))
    var picc: String?

    @Option(help: ArgumentHelp("The parameter with the code.", valueName: "name"))
    var cmac: String?

    @Option(help: ArgumentHelp("The parameter with the UID.", valueName: "name"))
    var uid: String?

    @Option(help: ArgumentHelp("The parameter with the counter.", valueName: "name"))
    var ctr: String?

    @Option(help: ArgumentHelp("The parameter with the encrypted data.", valueName: "name"))
    var enc: String?

    @Option(help: ArgumentHelp("The parameter where the part that the code covers begins.", valueName: "name"))
    var macFrom: String?

    @Option(help: ArgumentHelp("Refuse the link unless its counter is higher than this.", valueName: "n"))
    var counterAbove: Int?

    @Option(
        help: ArgumentHelp(
            "Refuse the link unless its counter is higher than the last one of the UID in this file; then store it.",
            valueName: "file"
        )
    )
    var last: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let link = try DynamicLink(link)
        let names = [picc, cmac, uid, ctr, enc, macFrom]
        if names.allSatisfy({ $0 == nil }), let (identity, code) = link.sun, let uid = identity.uid,
            let counter = identity.counter
        {
            let key = try keyOptions.keys().fileRead.bytes
            let expected = try DynamicMessagingCodes.sunCode(uid: uid, counter: counter, key: key)
            guard ConstantTime.areEqual(code, expected) else { throw Self.notGenuine }
            return try accept(identity)
        }
        let places = (
            picc: try link.find(picc, ["picc_data", "picc", "e"]),
            code: try link.find(cmac, ["cmac", "mac", "c", "m"]),
            uid: try link.find(uid, ["uid", "u"]), counter: try link.find(ctr, ["ctr", "counter", "n"]),
            data: try link.find(enc, ["enc"]), start: try link.find(macFrom, [])
        )
        guard let codePlace = places.code else { throw DynamicLink.missing("code (CMAC)", option: "cmac") }
        guard places.picc ?? places.uid ?? places.counter != nil else {
            throw DynamicLink.missing("UID and counter", option: "picc, or --uid and --ctr")
        }
        let start = places.start ?? places.data ?? codePlace
        guard start.lowerBound <= codePlace.lowerBound else {
            throw CommandFailure("not-genuine", "The code comes before the part that it covers. Check --mac-from.")
        }
        let keys = try keyOptions.keys()
        let found =
            if let place = places.picc {
                try link.bytes(place).flatMap { try PICCData(encrypted: $0, key: keys.metaRead.bytes) }
            } else {
                link.plainIdentity(places.uid, places.counter)
            }
        guard let identity = found, let code = link.bytes(codePlace, 8) else { throw Self.notGenuine }
        let input = Array(link.text[start.lowerBound..<codePlace.lowerBound])
        // The encrypted UID and counter have 32 digits in AES mode and 48 in LRP mode. Without them, both are tried.
        let modes = places.picc.map { [$0.count == 48] } ?? [false, true]
        let codes = try modes.map {
            try DynamicMessagingCodes(fileReadKey: keys.fileRead.bytes, identity: identity, usesLRP: $0)
        }.first { ConstantTime.areEqual(code, try $0.mac(input)) }
        guard let codes else { throw Self.notGenuine }
        var data: [UInt8]?
        if let place = places.data {
            guard let encrypted = link.bytes(place), encrypted.count.isMultiple(of: 16) else { throw Self.notGenuine }
            data = try codes.decrypt(encrypted)
        }
        try accept(identity, data: data)
    }

    private func accept(_ identity: PICCData, data: [UInt8]? = nil) throws {
        try checkCounter(of: identity)
        printResult(
            json: json,
            [
                "ok": true, "uid": identity.uid?.hexText(), "counter": identity.counter.map(Int.init),
                "data_hex": data?.hexText(),
            ],
            ["Genuine", "UID \(identity.uid?.hexText() ?? "not sent")"]
                + [identity.counter.map { "Counter \($0)" } ?? "No counter"]
                + (data.map { ["Data \($0.hexText()): \(String(decoding: $0, as: UTF8.self))"] } ?? [])
        )
    }

    private static let notGenuine = CommandFailure(
        "not-genuine",
        "No tag with this key wrote this link. Check the keys, that the link is complete and not changed, and the names of "
            + "its parts (--enc, --mac-from)."
    )

    // MARK: Replays

    private func checkCounter(of identity: PICCData) throws {
        guard counterAbove != nil || last != nil else { return }
        guard let counter = identity.counter.map(Int.init) else {
            throw CommandFailure("no-counter", "The link has no counter, so it is unknown whether it is new.")
        }
        func check(above limit: Int) throws {
            guard counter <= limit else { return }
            let message = "The link is not new: its counter is \(counter), and must be higher than \(limit)."
            throw CommandFailure("replayed", message)
        }
        if let counterAbove { try check(above: counterAbove) }
        guard let last else { return }
        // Of two commands with the same link, the second waits here, and then finds the counter of the first.
        let lock = unsafe open(last + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
            throw CommandFailure("unwritable-file", "\(last).lock can't be opened and locked. Check the folder.")
        }
        var counters = try Self.counters(in: last)
        let name = identity.uid?.hexText() ?? ""
        try check(above: counters[name] ?? -1)
        counters[name] = counter
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        try OutputTarget.file(last).write([UInt8](try encoder.encode(counters)) + [0x0A], readers: .ownerAlone)
    }

    private static func counters(in path: String) throws -> [String: Int] {
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try InputFile(path, limit: 1 << 28).readToEnd()
        } catch {
            guard error.code == .missing else { throw CommandFailure("unreadable-file", error.reason) }
            return [:]
        }
        guard let counters = try? JSONDecoder().decode([String: Int].self, from: Data(bytes)),
            counters.allSatisfy({ $0 == $0.lowercased() && $1 >= 0 })
        else { throw CommandFailure("malformed", "\(path) does not hold the counters of --last. Name another file.") }
        return counters
    }
}

/// A link with the parameters that a tag wrote.
private struct DynamicLink {
    let text: [UInt8]
    /// The names of the parameters, and the places of their values.
    private var values: [String: Range<Int>] = [:]

    init(_ link: String) throws {
        text = Array(link.prefix { $0 != "#" }.utf8)
        guard let mark = text.firstIndex(of: UInt8(ascii: "?")) else {
            throw CommandFailure("not-genuine", "The link has no parameters, such as ?e=…&c=….")
        }
        for part in text[(mark + 1)...].split(separator: UInt8(ascii: "&")) {
            guard let end = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: part[..<end], as: UTF8.self)
            guard values.updateValue(end + 1..<part.endIndex, forKey: name) == nil else {
                throw CommandFailure("not-genuine", "The link has two parameters with the same name: \(name).")
            }
        }
    }

    /// The SUN message of an NTAG 223 DNA or 224 DNA: UID, counter and code, with `x` in between; nil if there is none.
    var sun: (PICCData, code: [UInt8])? {
        values.values.sorted { $0.lowerBound < $1.lowerBound }.lazy.compactMap { place -> (PICCData, code: [UInt8])? in
            let (uid, counter) = (place.lowerBound, place.lowerBound + 15)
            guard place.count == 38, text[uid + 14] == UInt8(ascii: "x"), text[counter + 6] == UInt8(ascii: "x"),
                let identity = plainIdentity(uid..<uid + 14, counter..<counter + 6),
                let code = bytes(counter + 7..<place.upperBound)
            else { return nil }
            return (identity, code)
        }.first
    }

    /// The place of a parameter's value: that of the given name, or of the first usual name that the link has.
    func find(_ name: String?, _ usual: [String]) throws -> Range<Int>? {
        guard let name else { return usual.lazy.compactMap { values[$0] }.first }
        guard let place = values[name] else {
            throw CommandFailure("not-genuine", "The link has no parameter with the name \(name).")
        }
        return place
    }

    static func missing(_ what: String, option: String) -> CommandFailure {
        CommandFailure(
            "not-genuine",
            "No parameter of the link has a usual name for the \(what). Name it: --\(option)"
        )
    }

    /// The bytes of a value in hex; nil for other text, or another number of bytes.
    func bytes(_ place: Range<Int>, _ count: Int? = nil) -> [UInt8]? {
        guard case .success(let bytes) = HexText.bytes(text[place]), place.count == 2 * bytes.count else { return nil }
        return count.map { $0 == bytes.count } ?? true ? bytes : nil
    }

    /// The UID and the counter that are not encrypted; nil if malformed. The counter has its high byte first.
    func plainIdentity(_ uid: Range<Int>?, _ counter: Range<Int>?) -> PICCData? {
        let (id, count) = (uid.map { bytes($0, 7) }, counter.map { bytes($0, 3) })
        if case .some(.none) = id { return nil }
        if case .some(.none) = count { return nil }
        return PICCData(uid: id ?? nil, counter: count?.map { $0.reduce(0) { $0 << 8 | UInt32($1) } })
    }
}
