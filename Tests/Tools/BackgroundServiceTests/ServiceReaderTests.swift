// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `The reader of the service` {
    @Test(arguments: ["bogus", "none:", "pcsc:", "virtual:1", "replay:", "pn532", "pn532:", "pn532:/dev/ttyS0@1"])
    func `One that can't exist is wrong usage at once, named by the option or the variable`(reader: String) throws {
        let user = try User()
        for json in [true, false] {
            let named = try Command(name: "nfcd", environment: user.nfc.environment)
                .run(["--reader", reader] + (json ? ["--json"] : []))
            try expectUsage(named, json: json, source: "--reader")
            var environment = user.nfc.environment
            environment["NFC_READER"] = reader
            let variable = try Command(name: "nfcd", environment: environment).run(json ? ["--json"] : [])
            try expectUsage(variable, json: json, source: "NFC_READER")
        }
    }

    private func expectUsage(_ outcome: Command.Outcome, json: Bool, source: String) throws {
        #expect(outcome.status == 2, "\(outcome)")
        guard json else {
            #expect(outcome.error.hasPrefix("Error: \(source): "), "\(outcome.error)")
            return #expect(outcome.output == "")
        }
        #expect(outcome.error == "")
        let object = try #require(try outcome.objects().first)
        #expect(object["ok"] as? Bool == false && object["error"] as? String == "usage")
        #expect((object["message"] as? String)?.hasPrefix("\(source): ") == true, "\(object)")
    }

    @Test(arguments: [
        (["--tags", "none.json"], "unreadable-file", "--tags: "),
        (["--tags", "none.json,other"], "unreadable-file", "--tags: "),
        (["--reader", "replay:none.jsonl"], "unreadable-recording", ""),
    ])
    func `One whose file can't be used ends the service with 1`(arguments: [String], error: String, start: String)
        throws
    {
        let user = try User()
        let outcome = try Command(name: "nfcd", environment: user.nfc.environment).run(arguments + ["--json"])
        #expect(outcome.status == 1 && outcome.error == "", "\(outcome)")
        let object = try #require(try outcome.objects().first)
        #expect(object["ok"] as? Bool == false && object["event"] as? String == "failed")
        #expect(object["error"] as? String == error)
        #expect((object["message"] as? String)?.hasPrefix(start) == true, "\(object)")
    }

    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
    func `With --json a folder that is not there and files that can't be used are objects, named by the option`() throws
    {
        let tags = try ScratchFolder()
        // The sheet of apps has no part in the service, and its complaints none in the log.
        let service = try RunningNfcd(
            ["--json", "--tags", tags.path("tags")],
            environment: ["NFC_SHEET": "bogus", "NFC_READER": "bogus"]
        )
        #expect(service.prints("--tags: The folder \(tags.path("tags")) is not there."), "\(service.log)")
        // The reader's state is that of the folder.
        #expect(service.prints(#""event":"not-reading""#))
        let missing = "--tags: The folder of tags \(tags.path("tags")) is missing. Make it, or name another."
        let status = try service.user.nfc.run("background", "status", "--json")
        #expect(status.status == 3)
        #expect(try status.objects().first?["reading"] as? Bool == false)
        #expect(try status.objects().first?["reader"] as? String == missing)
        let words = try service.user.nfc.run("background", "status")
        #expect(words.lines.first == "Tags are not read." && words.output.contains(missing))
        #expect(words.lines.contains { $0.hasPrefix("  no    reader          --tags: ") }, "\(words)")
        try FileManager.default.createDirectory(atPath: tags.path("tags"), withIntermediateDirectories: true)
        #expect(service.prints(#""event":"reading""#))
        #expect(try service.user.nfc.run("background", "status").status == 0)
        try Data("{".utf8).write(to: URL(fileURLWithPath: tags.path("tags/bad.json")))
        #expect(service.prints("--tags: \(tags.path("tags/bad.json"))"), "\(service.log)")
        let notices = try service.objects().filter { $0["event"] as? String == "notice" }
        #expect(notices.count == 2)
        #expect(service.errors == "")
        #expect(service.end() == 0)
    }

    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
    func `The status says that a folder of tags is gone with the one above it, until another takes its place`() throws {
        let (place, images) = (try ScratchFolder(), try Images())
        let files = FileManager.default
        let tags = place.path("above/tags")
        try files.createDirectory(atPath: tags, withIntermediateDirectories: true)
        let service = try RunningNfcd(["--json", "--tags", tags])
        #expect(service.prints(#""event":"reading""#))
        try files.moveItem(atPath: place.path("above"), toPath: place.path("aside"))
        #expect(service.prints(#""event":"not-reading""#))
        let status = try service.user.nfc.run("background", "status")
        #expect(status.status == 3 && status.output.contains("The folder of tags \(tags) is missing."), "\(status)")
        try files.createDirectory(atPath: tags, withIntermediateDirectories: true)
        try files.copyItem(atPath: try images.blank("NTAG213"), toPath: tags + "/blank.nfc")
        #expect(service.prints(#""event":"no-message""#), "\(service.log)")
        #expect(try service.user.nfc.run("background", "status").status == 0)
        #expect(service.end() == 0)
    }

    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
    func `The log has each new reason why there is no reader`() throws {
        let place = try ScratchFolder()
        let line = place.path("line")
        let service = try RunningNfcd(["--json", "--reader", "pn532:\(line)"])
        #expect(service.prints(#""event":"not-reading""#), "\(service.log)")
        // What comes to the line's place is a file.
        try Data().write(to: URL(fileURLWithPath: line))
        #expect(service.prints(#""event":"not-reading""#, times: 2), "\(service.log)")
        let reasons = try service.objects().filter { $0["event"] as? String == "not-reading" }
            .compactMap { $0["message"] as? String }
        #expect(reasons.allSatisfy { $0.contains(line) } && reasons.last != reasons.first, "\(reasons)")
        #expect(service.end() == 0)
    }

    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
    func `With none by choice it runs, and says by which option`() throws {
        let service = try RunningNfcd(["--json", "--reader", "none"])
        #expect(service.prints("Tags are not read. --reader is none, so there is no reader."), "\(service.log)")
        #expect(service.end() == 0)
    }

    @Test func `The folder's and the reader's messages of a command name its option`() throws {
        let none = try Command(name: "nfc").run("scan", "--reader", "none", "--json")
        #expect(none.status == 3)
        #expect(try none.objects().first?["message"] as? String == "--reader is none, so there is no reader.")
        let tags = try ScratchFolder()
        try Data("{".utf8).write(to: URL(fileURLWithPath: tags.path("bad.json")))
        let scan = try Command(name: "nfc", environment: ["NFC_SHEET": "none"])
            .run("scan", "--tags", tags.path(""), "--timeout", "0.1", "--json")
        #expect(scan.error.hasPrefix("--tags: "), "\(scan)")
    }
}
