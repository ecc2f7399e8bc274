// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// nfc inbox where no service runs.
@Suite(.ownThreads) struct `The inbox without the service` {
    @Test(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
    func `While the screen is locked nothing opens, and the entry stays`() throws {
        let folder = try ScratchFolder()
        let bus = try Bus(folder.path(""))
        let user = try User(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        try user.opener()
        let id = try user.add("https://b.example/1")
        let desktop = try NotificationServer(bus.address, isLocked: true)
        defer { desktop.stop() }
        for words in [[], [id]] {
            let outcome = try user.nfc.run(["inbox", "open"] + words + ["--json"])
            #expect(outcome.status == 1)
            let object = try #require(try outcome.objects().first)
            #expect(object["error"] as? String == "locked")
            #expect(object["message"] as? String == "The screen is locked. Unlock it, then open the entry.")
        }
        #expect(user.opened == [])
        #expect(try user.nfc.run("inbox", "list").lines.count == 1)
    }

    @Test func `The newest entry opens first, and an entry that is named before it`() throws {
        let user = try User()
        try user.opener()
        let ids = try (1...3).map { try user.add("https://b.example/\($0)", number: UInt32($0)) }
        #expect(try user.nfc.run("inbox", "open").status == 0)
        #expect(user.opened.last == "https://b.example/3")
        #expect(try user.nfc.run("inbox", "open", "\(ids[0]).entry").status == 0)
        #expect(user.opened.last == "https://b.example/1")
        #expect(try user.nfc.run("inbox", "list", "--json").objects().map { $0["id"] as? String } == [ids[1]])
    }

    @Test func `A custom scheme opens where it is allowed`() throws {
        let user = try User()
        try user.write("bin/reader", "#!/bin/sh\necho \"$1\" >> '\(user.scratch.path("opened"))'\n", mode: 0o755)
        try user.write(
            "data/applications/org.example.Reader.desktop",
            "[Desktop Entry]\nType=Application\nName=Reader\nExec=reader %u\nMimeType=x-scheme-handler/reader;\n"
        )
        _ = try user.add("reader:x")
        let refused = try user.nfc.run("inbox", "open", "--json")
        #expect(try refused.objects().first?["error"] as? String == "nothing-to-open")
        let opened = try user.nfc.run("inbox", "open", "--allow-custom-schemes", "--json")
        #expect(opened.status == 0, "\(opened)")
        let object = try #require(try opened.objects().first)
        #expect(object["opened_in"] as? String == "TEAM.org.example.reader")
        #expect(try user.nfc.run("inbox", "list").output == "The inbox is empty.\n")
    }
}
