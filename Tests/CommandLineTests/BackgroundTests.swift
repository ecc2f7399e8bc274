// SPDX-License-Identifier: Apache-2.0
import BackgroundStorage
import BackgroundTagReading
import Foundation
import NDEF
import PrivateStorage
import Testing

@Suite struct `nfc apps` {
    @Test func `It lists each app with its domains and rules`() throws {
        let user = try User()
        let before = try user.nfc.run("apps")
        #expect(before.status == 0)
        #expect(
            before.output == """
                Reader  TEAM.org.example.reader  (org.example.Reader.desktop)
                  applinks:good.site.example
                    no association file; nfc links fetch gets it
                  reader: only where custom schemes are allowed

                """
        )
        try user.cache(User.association)
        let object = try #require(try user.nfc.run("apps", "--json").objects().first)
        let domain = try #require((object["associated_domains"] as? [[String: Any]])?.first)
        #expect(domain["rules"] as? [String] == [#"details[0].components[0] {"/": "/x/*"}"#])
        #expect(object["app_id"] as? String == "TEAM.org.example.reader")
    }

    @Test func `What is no app is told`() throws {
        let user = try User()
        try user.write("data/nfc/apps/org.example.Bad.json", "{")
        let outcome = try user.nfc.run("apps", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().map { $0["ok"] as? Bool } == [true, false])
    }
}

@Suite struct `nfc inbox` {
    @Test func `It lists entries, safely and with where they go`() throws {
        let user = try User()
        try user.cache(User.association)
        #expect(try user.nfc.run("inbox", "list").output == "The inbox is empty.\n")
        let first = try user.add("https://good.site.example/x/1", number: 1)
        _ = try user.add("mailto:a\u{202E}b@c.example", number: 2)
        let outcome = try user.nfc.run("inbox", "list")
        #expect(outcome.lines.count == 2)
        #expect(outcome.lines[0] == "\(first)  Open “good.site.example” in Reader  (just now)")
        #expect(!outcome.output.contains("\u{202E}"))
        let objects = try user.nfc.run("inbox", "list", "--json").objects()
        #expect(objects.map { $0["opens"] as? String } == ["TEAM.org.example.reader", "mailto"])
        let mode = try FileManager.default.attributesOfItem(atPath: user.scratch.path("state/nfc/inbox"))[
            .posixPermissions
        ]
        #expect(mode as? Int == 0o700)
    }

    @Test func `Opening gives the browser the URL alone, past every shell`() throws {
        let user = try User()
        try user.opener()
        _ = try user.add("https://b.example/$(touch x);`y`&'|\"")
        #expect(try user.nfc.run("inbox", "open").status == 0)
        #expect(user.opened == ["2", "open", "https://b.example/$(touch%20x);%60y%60&'%7C%22"])
        #expect(try user.nfc.run("inbox", "list").output == "The inbox is empty.\n")
        #expect(try user.nfc.run("inbox", "open").status == 1)
    }

    @Test func `What can't be opened stays`() throws {
        let user = try User()
        try user.opener(status: 3)
        let id = try user.add("tel:+49123")
        #expect(try user.nfc.run("inbox", "open", id, "--json").objects().first?["error"] as? String == "no-handler")
        _ = try user.add("reader:x", number: 2)
        #expect(try user.nfc.run("inbox", "open", "--json").objects().first?["error"] as? String == "nothing-to-open")
        #expect(try user.nfc.run("inbox", "list").lines.count == 2)
        #expect(try user.nfc.run("inbox", "clear", id).status == 0)
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
        #expect(try user.nfc.run("inbox", "clear").status == 0)
        #expect(try user.nfc.run("inbox", "list").output == "The inbox is empty.\n")
        #expect(try user.nfc.run("inbox", "open", "../x").status == 2)
    }
}

@Suite struct `Delivery over the bus` {
    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
    func `An app is started and given the link with the message, and then given more while it runs`() throws {
        let folder = try ScratchFolder()
        let probe = Command(name: "DeliveryProbe").path
        let services = folder.path("services")
        try FileManager.default.createDirectory(atPath: services, withIntermediateDirectories: true)
        let service =
            "[D-BUS Service]\nName=org.example.Reader\nExec=\(probe) org.example.Reader \(folder.path("log"))\n"
        try Data(service.utf8).write(to: URL(fileURLWithPath: services + "/org.example.Reader.service"))
        let bus = try Bus(folder.path(""))
        let user = try User(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        try user.cache(User.association)
        _ = try user.add("https://good.site.example/x/1")
        let first = try user.nfc.run("inbox", "open", "--json")
        #expect(first.status == 0, "\(first)")
        #expect(try first.objects().first?["opened_in"] as? String == "TEAM.org.example.reader")
        _ = try user.add("https://good.site.example/x/refuse")
        let refused = try user.nfc.run("inbox", "open", "--json")
        #expect(try refused.objects().first?["error"] as? String == "app-refused")
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
        let log = try String(contentsOfFile: folder.path("log"), encoding: .utf8).split(separator: "\n")
        #expect(log.count == 3)
        #expect(
            log.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }.suffix(2) == [
                "https://good.site.example/x/1 2", "https://good.site.example/x/refuse 2",
            ]
        )
        // One process was given both.
        #expect(Set(log.compactMap { $0.split(separator: " ").first }).count == 1)
        withExtendedLifetime(bus) {}
    }

    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
    func `An app that nobody can start leaves the entry in the inbox`() throws {
        let folder = try ScratchFolder()
        let bus = try Bus(folder.path(""))
        let user = try User(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        try user.cache(User.association)
        _ = try user.add("https://good.site.example/x/1")
        let outcome = try user.nfc.run("inbox", "open", "--json")
        #expect(try outcome.objects().first?["error"] as? String == "not-started")
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
        withExtendedLifetime(bus) {}
    }

    @Test func `Without a bus it is told, and the entry stays`() throws {
        let user = try User(environment: [
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere", "XDG_RUNTIME_DIR": "/nowhere",
        ])
        try user.cache(User.association)
        _ = try user.add("https://good.site.example/x/1")
        let outcome = try user.nfc.run("inbox", "open")
        #expect(outcome.status == 1)
        #expect(outcome.error.hasPrefix("Error: "))
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
    }
}

@Suite struct `nfc links fetch` {
    @Test func `Only domains that an installed app lists are fetched`() throws {
        let user = try User()
        let outcome = try user.nfc.run("links", "fetch", "other.example", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().first?["error"] as? String == "not-listed")
    }

    @Test func `A site that can't be reached is told, and nothing is lost`() throws {
        let user = try User()
        try user.cache(User.association)
        let fresh = try user.nfc.run("links", "fetch", "--json")
        #expect(fresh.status == 0)
        #expect(try fresh.objects().first?["age_s"] as? Int ?? 100 < 60)
        let forced = try user.nfc.run("links", "fetch", "--force", "--connect-to", "127.0.0.1:1", "--json")
        #expect(forced.status == 1)
        let object = try #require(try forced.objects().first)
        #expect(object["error"] as? String == "no-connection")
        #expect(object["size"] as? Int == User.association.utf8.count)
        #expect(try user.nfc.run("links", "fetch", "--timeout", "0").status == 2)
    }

    @Test func `A file is fetched from a site and used`() throws {
        let user = try User()
        let site = Process()
        site.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("LinkFetchingTests/site.py").path
        try FileManager.default.createDirectory(atPath: user.scratch.path("site"), withIntermediateDirectories: true)
        site.arguments = ["python3", script, user.scratch.path("site")]
        let (input, output) = (Pipe(), Pipe())
        site.standardInput = input
        site.standardOutput = output
        try site.run()
        defer {
            try? input.fileHandleForWriting.close()
            site.waitUntilExit()
        }
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let outcome = try user.nfc.run(
            "links",
            "fetch",
            "--connect-to",
            "127.0.0.1:\(port)",
            "--authorities",
            user.scratch.path("site/ca.pem")
        )
        #expect(outcome.status == 0)
        #expect(outcome.output == "good.site.example  77 octets, the site answered just now\n")
        let mode = try FileManager.default.attributesOfItem(
            atPath: user.scratch.path("cache/nfc/links/good.site.example.links")
        )[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }
}
