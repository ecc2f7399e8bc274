// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import NDEF
import PrivateStorage
import TestThreads
import Testing
import UserBus

@Suite(.ownThreads) struct `nfc apps` {
    @Test func `It lists each app with its domains and rules`() throws {
        let user = try User()
        let before = try user.nfc.run("apps")
        #expect(before.status == 0)
        #expect(
            before.output == """
                Reader  TEAM.org.example.reader  (org.example.Reader.desktop)
                  started by the bus
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

    @Test func `The browser is chosen for a domain, until the app is chosen again`() throws {
        let user = try User()
        try user.cache(User.association)
        _ = try user.add("https://good.site.example/x/1")
        func opens() throws -> String? {
            let app = try #require(try user.nfc.run("apps", "--json").objects().first)
            let listed = try #require(try user.nfc.run("inbox", "list", "--json").objects().first)
            let domain = try #require((app["associated_domains"] as? [[String: Any]])?.first)
            #expect((domain["opens"] as? String == "browser") == (listed["opens"] as? String == "browser"))
            return listed["opens"] as? String
        }
        #expect(try opens() == "TEAM.org.example.reader")
        let chosen = try user.nfc.run("apps", "choose", "Good.Site.Example", "browser")
        #expect(chosen.status == 0, "\(chosen)")
        #expect(chosen.output == "Links of good.site.example open in the browser.\n")
        #expect(try opens() == "browser")
        let file = user.scratch.path("config/nfc/browser-domains")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "good.site.example browser\n")
        #expect(try user.nfc.run("apps", "choose", "good.site.example", "app").status == 0)
        #expect(try opens() == "TEAM.org.example.reader")
        let other = try user.nfc.run("apps", "choose", "other.example", "browser", "--json")
        #expect(try other.objects().first?["error"] as? String == "not-listed")
        #expect(try user.nfc.run("apps", "choose", "good.site.example", "other").status == 2)
        // Of all hosts below a domain, an app has to list just that.
        let app = #"{"app_id":"TEAM.org.example.reader","associated_domains":["applinks:*.good.site.example"]}"#
        try user.write("data/nfc/apps/org.example.Reader.json", app)
        let below = try user.nfc.run("apps", "choose", "*.good.site.example", "browser")
        #expect(below.output == "Links of *.good.site.example open in the browser.\n", "\(below)")
        // One of these hosts is not all of them, whatever its name.
        try user.write("data/nfc/apps/org.example.Reader.json", app.replacing("*", with: "x"))
        let one = try user.nfc.run("apps", "choose", "*.good.site.example", "browser", "--json")
        #expect(try one.objects().first?["error"] as? String == "not-listed", "\(one)")
    }

    @Test func `An invalid app is reported`() throws {
        let user = try User()
        try user.write("data/nfc/apps/org.example.Bad.json", "{")
        let outcome = try user.nfc.run("apps", "--json")
        #expect(outcome.status == 1)
        #expect(try outcome.objects().map { $0["ok"] as? Bool } == [true, false])
    }
}

@Suite(.ownThreads) struct `nfc inbox` {
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

    @Test func `An entry has its bytes, when it came, and whether it can be opened`() throws {
        let user = try User()
        try user.opener()
        let start = Int(Date().timeIntervalSince1970 * 1000)
        let link = "https://b.example/1"
        let ids = [try user.add(link, number: 1), try user.add("reader:x", number: 2)]
        let end = Int(Date().timeIntervalSince1970 * 1000)
        let objects = try user.nfc.run("inbox", "list", "--json").objects()
        #expect(objects.map { $0["id"] as? String } == ids)
        #expect(objects.map { $0["can_open"] as? Bool } == [true, false])
        #expect(objects.map { $0["announced"] as? Bool } == [false, false])
        #expect(objects.map { $0["uri"] as? String } == [link, "reader:x"] && objects[1]["opens"] is NSNull)
        let times = objects.compactMap { $0["received_ms"] as? Int }
        #expect(times.count == 2 && times.allSatisfy { (start...end).contains($0) }, "\(times)")
        let message = try NDEFMessage([.uri(link), .text("more", language: "en")]).encoded()
        let hex = message.map { String(format: "%02x", $0) }.joined()
        #expect(objects[0]["message_hex"] as? String == hex)
        let line =
            #"{"ok":true,"id":"\#(ids[0])","received_ms":\#(times[0]),"announced":false,"uri":"\#(link)","#
            + #""opens":"browser","can_open":true,"message_hex":"\#(hex)"}"#
        #expect(try user.nfc.run("inbox", "list", "--json").lines.first == line)
        let text = try user.nfc.run("inbox", "list").lines
        #expect(text.last == "\(ids[1])  Nothing to open  (just now)", "\(text)")
    }

    @Test func `Opening gives the browser the URL alone, past every shell`() throws {
        let user = try User()
        try user.opener()
        _ = try user.add("https://b.example/$(touch x);`y`&'|\"")
        let opened = try user.nfc.run("inbox", "open")
        #expect(opened.status == 0 && opened.output == "Opened in the browser\n", "\(opened)")
        #expect(user.opened == ["2", "open", "https://b.example/$(touch%20x);%60y%60&'%7C%22"])
        #expect(try user.nfc.run("inbox", "list").output == "The inbox is empty.\n")
        #expect(try user.nfc.run("inbox", "open").status == 1)
    }

    @Test func `What another process is opening is not opened a second time, and stays`() throws {
        let user = try User()
        try user.opener()
        let id = try user.add("https://b.example/1")
        let inbox = Inbox(try DirectoryStore(user.scratch.path("state/nfc/inbox")))
        var claim: FileClaim? = try inbox.claim(try #require(InboxEntry.ID(id)))
        for arguments in [["inbox", "open", "--json"], ["inbox", "open", id, "--json"]] {
            let outcome = try user.nfc.run(arguments)
            #expect(outcome.status == 1)
            #expect(try outcome.objects().first?["error"] as? String == "being-opened")
        }
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
        #expect(user.opened == [])
        withExtendedLifetime(claim) {}
        claim = nil
        #expect(try user.nfc.run("inbox", "open").status == 0)
        #expect(user.opened.count == 3)
    }

    @Test func `What clear removes is counted, and an entry that is not there is named as missing`() throws {
        let user = try User()
        let ids = try (1...4).map { try user.add("https://b.example/\($0)", number: $0) }
        let unknown = try user.nfc.run("inbox", "clear", ids[0], "019fb0c2d4e11a2b3c4d", "--json")
        #expect(unknown.status == 1)
        #expect(try unknown.objects().first?["error"] as? String == "no-entry")
        #expect(try user.nfc.run("inbox", "list").lines.count == 4)
        #expect(try user.nfc.run("inbox", "clear", ids[0]).output == "Removed 1 entry.\n")
        let two = try user.nfc.run("inbox", "clear", ids[1], ids[2], ids[1], "--json")
        #expect(two.output == #"{"ok":true,"removed":2,"damaged":0,"kept":[]}"# + "\n")
        try user.write("state/nfc/inbox/broken.entry", "x", mode: 0o600)
        let listed = try user.nfc.run("inbox", "list")
        #expect(listed.status == 1)
        #expect(listed.error.contains("broken.entry") && listed.error.contains("nfc inbox clear --damaged"))
        #expect(try user.nfc.run("inbox", "clear", "--damaged").output == "Removed 0 entries and 1 damaged file.\n")
        #expect(try user.nfc.run("inbox", "list").status == 0)
        #expect(try user.nfc.run("inbox", "clear", "--damaged", ids[3]).status == 2)
        try user.write("state/nfc/inbox/broken.entry", "x", mode: 0o600)
        #expect(try user.nfc.run("inbox", "clear").output == "Removed 1 entry and 1 damaged file.\n")
    }

    @Test func `A folder in the inbox stays and is named, and everything else is removed`() throws {
        let user = try User()
        _ = try user.add("https://b.example/1")
        for name in ["a folder/file", "0folder/file"] { try user.write("state/nfc/inbox/\(name)", "x") }
        try user.write("state/nfc/inbox/broken.entry", "x", mode: 0o600)
        let damaged = try user.nfc.run("inbox", "clear", "--damaged", "--json")
        #expect(damaged.status == 1)
        let object = try #require(try damaged.objects().first)
        #expect(object["ok"] as? Bool == false && object["error"] as? String == "not-removed")
        #expect(object["removed"] as? Int == 0 && object["damaged"] as? Int == 1)
        #expect(object["kept"] as? [String] == ["0folder", "a folder"])
        let all = try user.nfc.run("inbox", "clear")
        #expect(all.status == 1)
        #expect(all.output == "Removed 1 entry.\n")
        #expect(all.error.contains("/nfc/inbox/a folder can't be removed: Directory not empty. Remove it by hand."))
        #expect(try user.nfc.run("inbox", "list").output == "The inbox has no other entries.\n")
    }

    @Test func `Of a damaged entry it says that it is damaged, and it can be removed`() throws {
        let user = try User()
        let empty = try user.nfc.run("inbox", "open")
        #expect(empty.status == 1 && empty.error == "Error: The inbox is empty, so there is nothing to open.\n")
        let id = "019fb0c2d4e11a2b3c4d"
        try user.write("state/nfc/inbox/\(id).entry", "x", mode: 0o600)
        for arguments in [["open", id], ["open", "\(id).entry"], ["open"]] {
            let outcome = try user.nfc.run(["inbox"] + arguments + ["--json"])
            #expect(outcome.status == 1)
            #expect(try outcome.objects().first?["error"] as? String == "damaged-entry")
        }
        #expect(try user.nfc.run("inbox", "open", id).error.contains("remove the entry: nfc inbox clear \(id)"))
        let unknown = try user.nfc.run("inbox", "open", "019fb0c2d4e11a2b3c4e", "--json")
        #expect(try unknown.objects().first?["error"] as? String == "no-entry")
        #expect(try user.nfc.run("inbox", "clear", "\(id).entry").output == "Removed 0 entries and 1 damaged file.\n")
        #expect(try user.nfc.run("inbox", "list").status == 0)
    }

    @Test func `The browser is named where it is known`() throws {
        let user = try User()
        _ = try user.add("https://b.example/1")
        // Without one the system's tools may have none either.
        try user.write("bin/xdg-open", "#!/bin/sh\n", mode: 0o755)
        #expect(try user.nfc.run("inbox", "list").output.contains("Open “b.example” in the browser"))
        try user.write("bin/fox", "#!/bin/sh\n", mode: 0o755)
        try user.write("data/applications/gone.desktop", "[Desktop Entry]\nType=Application\nName=Gone\nExec=gone %u\n")
        try user.write("data/applications/fox.desktop", "[Desktop Entry]\nType=Application\nName=Fox\nExec=fox %u\n")
        try user.write(
            "config/mimeapps.list",
            "[Default Applications]\nx-scheme-handler/https=gone.desktop;fox.desktop\n"
        )
        // The first can't be started. The list shows the program that opens the link.
        #expect(try user.nfc.run("inbox", "list").output.contains("Open “b.example” in Fox"))
        let object = #"{"ok":true,"opened_in":"the browser, fox","app":"fox","with_message":false}"#
        #expect(try user.nfc.run("inbox", "open", "--json").output == object + "\n")
    }

    @Test func `What can't be opened stays`() throws {
        let user = try User()
        try user.opener(status: 3)
        let id = try user.add("tel:+49123")
        #expect(try user.nfc.run("inbox", "open", id, "--json").objects().first?["error"] as? String == "no-handler")
        // The command to copy ends the text.
        let command = "xdg-mime default NAME.desktop x-scheme-handler/tel"
        let text =
            "The link was not opened, and its entry stays in the inbox. No app on this system opens tel: links. "
            + "Install one, and make it the default with: \(command)"
        #expect(try user.nfc.run("inbox", "open", id).error == "Error: \(text)\n")
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

@Suite(.ownThreads) struct `Delivery over the bus` {
    /// What the sample app keeps.
    private func kept(_ store: String) throws -> [[String: Any]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: store))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        return try #require(object["messages"] as? [[String: Any]])
    }

    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), arguments: [false, true])
    func `The sample app is started and given the link with the message, and then more while it runs`(
        isBusActivated: Bool
    ) throws {
        let folder = try ScratchFolder()
        let program = Command(name: "TagReader").path
        let bus = try Bus(folder.path(""))
        let store = folder.path("kept/messages.json")
        let user = try User(environment: [
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "TAGREADER_STORE": store,
            "PATH": (program as NSString).deletingLastPathComponent + ":/usr/bin:/bin",
        ])
        try user.installTagReader()
        if isBusActivated {
            let name = "org.opencorenfc.TagReader"
            let command = "/usr/bin/env TAGREADER_STORE=\(store) \(program) --background"
            try user.write(
                "data/applications/\(name).desktop",
                "[Desktop Entry]\nType=Application\nName=Tag Reader\nDBusActivatable=true\n"
            )
            try FileManager.default.createDirectory(atPath: folder.path("services"), withIntermediateDirectories: true)
            try Data("[D-BUS Service]\nName=\(name)\nExec=\(command)\n".utf8)
                .write(to: URL(fileURLWithPath: folder.path("services/\(name).service")))
        }
        _ = try user.add("https://tagreader.example/x/1")
        let first = try user.nfc.run("inbox", "open", "--json")
        #expect(first.status == 0, "\(first)")
        #expect(try first.objects().first?["app"] as? String == "OPENCORENFC.org.opencorenfc.TagReader")
        #expect(try first.objects().first?["with_message"] as? Bool == true)
        let watcher = try UserBus(address: bus.address)
        let owner = try watcher.owner(of: "org.opencorenfc.TagReader")
        #expect(owner != nil)
        _ = try user.add("https://tagreader.example/x/2")
        #expect(try user.nfc.run("inbox", "open").status == 0)
        #expect(try kept(store).map { ($0["records"] as? [Any])?.count } == [2, 2])
        // What can't be kept is not taken.
        try FileManager.default.removeItem(atPath: folder.path("kept"))
        try Data().write(to: URL(fileURLWithPath: folder.path("kept")))
        _ = try user.add("https://tagreader.example/x/3")
        let refused = try user.nfc.run("inbox", "open", "--json")
        #expect(try refused.objects().first?["error"] as? String == "app-refused")
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
        // One process was given all.
        #expect(try watcher.owner(of: "org.opencorenfc.TagReader") == owner)
        withExtendedLifetime(bus) {}
    }

    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
    func `The sample app shows the message while it waits for commands`() throws {
        let folder = try ScratchFolder()
        let bus = try Bus(folder.path(""))
        let user = try User(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        try user.installTagReader()
        _ = try user.add("https://tagreader.example/x/1")
        let commands = Pipe()
        let output = folder.path("output")
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        let app = Process()
        app.executableURL = URL(fileURLWithPath: Command(name: "TagReader").path)
        app.environment = user.nfc.environment.merging(["TAGREADER_STORE": folder.path("messages.json")]) { $1 }
        app.standardInput = commands
        app.standardOutput = FileHandle(forWritingAtPath: output)
        try app.run()
        defer {
            kill(app.processIdentifier, SIGKILL)
            app.waitUntilExit()
        }
        let watcher = try UserBus(address: bus.address)
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while try watcher.owner(of: "org.opencorenfc.TagReader") == nil, clock.now < end { usleep(5000) }
        let opened = try user.nfc.run("inbox", "open", "--json")
        #expect(opened.status == 0, "\(opened)")
        let text = try String(contentsOfFile: output, encoding: .utf8)
        #expect(text.hasPrefix("Message 1: 2 records"))
        #expect(text.contains("Link: https://tagreader.example/x/1"))
        withExtendedLifetime((bus, commands)) {}
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

    @Test func `A missing bus is reported, and the entry stays`() throws {
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
