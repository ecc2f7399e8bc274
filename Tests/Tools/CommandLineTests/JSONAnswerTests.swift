// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `Answers of nfc in JSON` {
    private let images: Images
    private let nfc = Command(name: "nfc", environment: ["NFC_SHEET": "none"])

    init() throws { images = try Images() }

    /// A tag with a message that ends too early.
    private func broken() throws -> String {
        let path = try images.blank("NTAG213", uid: "04a1b2c3d4e583")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let changed = text.replacingOccurrences(of: "Page 4: 01 03 A0 0C", with: "Page 4: 03 02 D1 01")
            .replacingOccurrences(of: "Page 5: 34 03 00 FE", with: "Page 5: FE 00 00 00")
        try #require(changed != text)
        try changed.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func keys(_ outcome: Command.Outcome) throws -> [String] {
        let line = try #require(outcome.lines.first)
        return line.matches(of: /[{,]"(\w+)":/).map { String($0.1) }
    }

    private static let tag = ["tag_type", "product", "uid", "status", "capacity", "message_hex"]
    private static let cost = ["exchanges", "bytes_on_air", "airtime_us", "tag_work_us", "activation_us"]

    // MARK: Faults

    @Test(arguments: [["tag", "read", "--image"], ["scan", "--tags"]])
    func `A tag with an invalid message is a failure with its bytes`(command: [String]) throws {
        let path = try broken()
        let outcome = try nfc.run(command + [path, "--json"])
        let object = try #require(try outcome.objects().first)
        #expect(outcome.status == 1)
        #expect(outcome.lines.count == 1)
        #expect(object["ok"] as? Bool == false)
        #expect(object["error"] as? String == "truncated-header")
        #expect(object["offset"] as? Int == 2)
        #expect(object["message_hex"] as? String == "d101")
        #expect(object["uid"] as? String == "04a1b2c3d4e583")
        let decoded = try nfc.run("ndef", "decode", "--json", input: "d101\n").objects().first
        #expect(decoded?["error"] as? String == object["error"] as? String)
        #expect(decoded?["offset"] as? Int == object["offset"] as? Int)
        let text = try nfc.run(command + [path])
        #expect(text.status == 1)
        #expect(text.output.contains("not readable (truncated-header)"))
    }

    @Test func `Info of such a tag names the fault`() throws {
        let object = try nfc.object("tag", "info", "--image", broken())
        #expect(object["ndef_error"] as? String == "truncated-header")
        #expect(object["offset"] as? Int == 2)
    }

    @Test(arguments: [
        ["write", "--tags"], ["tag", "write", "--image"], ["tag", "create", "--product", "NTAG213", "--out"],
    ])
    func `An invalid message is not written`(command: [String]) throws {
        let path = try images.blank("NTAG213")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        for (message, error) in [("d101", "truncated-header"), ("d00000ff", "trailing-data"), ("", "empty-input")] {
            let outcome = try nfc.run(command + [path, "--message", message, "--json"])
            #expect(outcome.status == 1)
            #expect(try outcome.objects().first?["error"] as? String == error)
            #expect(try outcome.objects().first?["offset"] is Int)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func `A text that is not UTF-8 is refused`() throws {
        let path = try images.blank("NTAG213")
        let outcome = try Command.shell("nfc tag write --image '\(path)' --text $'Caf\\xe9' --json; echo $?", in: "/")
        #expect(outcome.lines.last == "2")
        #expect(outcome.lines.first?.contains("Argument 6, 'Caf\u{FFFD}', is not UTF-8.") == true)
        #expect(try nfc.object("tag", "read", "--image", path)["message_hex"] as? String == "")
    }

    @Test func `A file whose name is not UTF-8 is to be renamed`() throws {
        let path = try images.poster()
        let script = """
            cp '\(path)' $'/\(images.folder.path("caf"))\\xe9.nfc'; cd '\(images.folder.path(""))'
            nfc tag info --json --image $'caf\\xe9.nfc'; echo $?
            NFC_TAGS=$'caf\\xe9.nfc' nfc scan --reader virtual --json; echo $?
            """
        let lines = try Command.shell(script, in: "/").lines
        try #require(lines.count == 4)
        #expect(lines[0].contains("'caf\u{FFFD}.nfc', is not UTF-8.") && lines[0].contains("a file, rename it."))
        #expect(lines[2].contains("The name of the file caf\u{FFFD}.nfc is not UTF-8. Rename the file."))
        #expect([lines[1], lines[3]] == ["2", "1"])
    }

    // MARK: Usage

    @Test(arguments: [
        (["scan", "--timeout", "61"], "--timeout takes more than 0 and at most 60 seconds."),
        (["frob"], "Unexpected argument 'frob'"), (["tag", "read", "--image"], "Missing value for '--image <file>'"),
        (["tag"], "nfc tag needs a subcommand. See: nfc tag --help"),
        (["background"], "nfc background needs a subcommand. See: nfc background --help"),
        (["emulate", "show", "--json=1"], "The option '--json' does not take any value, but '1' was specified."),
    ])
    func `Wrong usage is answered in JSON too`(arguments: [String], message: String) throws {
        let outcome = try nfc.run(arguments + (arguments.contains("--json=1") ? [] : ["--json"]))
        #expect(outcome.status == 2)
        #expect(outcome.output == #"{"ok":false,"error":"usage","message":"\#(message)"}"# + "\n")
        #expect(outcome.error == "")
    }

    @Test func `An image that is not in a file of several is answered in JSON too`() throws {
        let path = images.folder.path("several.jsonl")
        try "{\"id\":\"a\"}\n{\"id\":\"b\"}\n".write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try nfc.run("tag", "read", "--image", path, "--id", "c", "--json")
        #expect(outcome.status == 2)
        #expect(try outcome.objects().first?["error"] as? String == "unknown-id")
    }

    @Test func `The version is printed, in JSON too`() throws {
        let text = try nfc.run("--version").output
        let version = try #require(text.firstMatch(of: /^nfc ([0-9]+\.[0-9]+\.[0-9]+)\n$/)?.1)
        #expect(try nfc.run("--version", "--json").output == #"{"ok":true,"version":"\#(version)"}"# + "\n")
    }

    // MARK: Keys that never vary

    @Test func `A tag has the same keys, whatever is known of it`() throws {
        let poster = try images.poster()
        let record = images.folder.path("rec")
        #expect(try nfc.run("scan", "--tags", poster, "--record", record).status == 0)
        let read = ["ok"] + Self.tag + Self.cost + ["records"]
        #expect(try keys(nfc.run("tag", "read", "--image", poster, "--json")).starts(with: read))
        let virtual = Command(name: "nfc", environment: ["NFC_SHEET": "none", "NFC_TAGS": poster])
        #expect(try keys(virtual.run("tag", "read", "--reader", "virtual", "--json")).starts(with: read))
        let blank = try images.blank("NTAG215")
        #expect(try keys(nfc.run("tag", "write", "--image", blank, "--message", "d00000", "--json")).starts(with: read))
        let written = try nfc.run("write", "a:b", "--tags", blank, "--json")
        #expect(try keys(written).starts(with: ["ok"] + Self.tag + ["records"]))
        let replay = try nfc.run("scan", "--reader", "replay:\(record)", "--json")
        #expect(try Array(keys(replay).prefix(8)) == ["ok"] + Self.tag + ["records"])
        let failure = ["ok", "error", "message"] + Self.tag
        let unformatted = try images.unformatted()
        let unread = try nfc.run("tag", "read", "--image", unformatted, "--json")
        #expect(try keys(unread) == failure + Self.cost + ["records"])
        #expect(try keys(nfc.run("scan", "--tags", unformatted, "--json")) == failure + ["records"])
        let locked = try nfc.run("scan", "--tags", images.locked(), "--json")
        #expect(try Array(keys(locked).prefix(8)) == ["ok"] + Self.tag + ["records"])
    }

    @Test func `A line of a trace has the same keys, whatever it is`() throws {
        let record = images.folder.path("rec")
        #expect(try nfc.run("scan", "--tags", images.poster(), "--record", record).status == 0)
        let lines = try nfc.run("trace", record, "--json").lines
        let keys = Set(lines.map { $0.matches(of: /[{,]"(\w+)":/).map { String($0.1) } })
        #expect(keys == [["exchange", "time_us", "technology", "direction", "hex", "bits", "meaning"]])
    }

    @Test(arguments: [["readers"], ["scan"], ["tag", "read"]])
    func `A reader that never was there has one name`(command: [String]) throws {
        for reader in ["pn532:/nonexistent", "pn532:/dev/null", "bogus", "none", "virtual:x", "none:x", "", ":"] {
            let outcome = try nfc.run(command + ["--reader", reader, "--json"])
            #expect(outcome.status == 3)
            #expect(try outcome.objects().first?["error"] as? String == "no-reader", "\(reader)")
        }
    }
}
