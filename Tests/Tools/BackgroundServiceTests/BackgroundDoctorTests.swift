// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinkDelivery
import TestThreads
import Testing

@Suite(.ownThreads) struct `nfc background doctor` {
    private func findings(_ user: User) throws -> (status: Int32, found: [String: [String: Any]]) {
        let outcome = try user.nfc.run("background", "doctor", "--json")
        var found: [String: [String: Any]] = [:]
        for object in try outcome.objects() {
            let name = [object["check"], object["subject"]].compactMap { $0 as? String }.joined(separator: " ")
            #expect(found[name] == nil, "\(name) is there twice.")
            #expect(Set(object.keys) == ["ok", "error", "check", "subject", "state", "message", "fix"])
            let works = object["state"] as? String == "works"
            #expect(works == (object["fix"] is NSNull), "\(object)")
            found[name] = object
        }
        return (outcome.status, found)
    }

    @Test func `Without a bus, a reader and a browser each is named with its fix`() throws {
        let user = try User()
        let (status, found) = try findings(user)
        #expect(status == 1)
        for name in ["service", "reader", "bus", "association good.site.example"] {
            #expect(found[name]?["state"] as? String == "fails", "\(name)")
        }
        #expect(found["bus"]?["error"] as? String == "bus-fails")
        #expect((found["bus"]?["fix"] as? String)?.contains("dbus-run-session") == true)
        #expect((found["service"]?["fix"] as? String)?.contains("bus") == true)
        #expect((found["reader"]?["fix"] as? String)?.contains("pcscd") == true)
        #expect(
            found["association good.site.example"]?["fix"] as? String == "nfc links fetch --force good.site.example"
        )
        // Of what is on the bus nothing is known then.
        #expect(found["notifications"] == nil && found["lock"] == nil)
        let text = try user.nfc.run("background", "doctor")
        #expect(text.status == 1)
        #expect(text.output.contains("no    bus: ") && text.output.contains("\n      nfc links fetch --force"))
    }

    @Test func `A reader that is named is asked, where no service runs, and that is not recorded`() throws {
        let scratch = try ScratchFolder()
        let record = scratch.path("record")
        for reader in [["NFC_READER": "virtual"], ["NFC_TAGS": scratch.path("")]] {
            let user = try User(environment: reader.merging(["NFC_RECORD": record]) { $1 })
            let found = try #require(try findings(user).found["reader"])
            #expect(found["state"] as? String == "works" && found["message"] as? String == "virtual answers.")
            #expect(!FileManager.default.fileExists(atPath: record))
        }
        let none = try #require(try findings(try User(environment: ["NFC_READER": "none"])).found["reader"])
        #expect(none["state"] as? String == "fails" && none["fix"] is String)
    }

    @Test func `Each scheme has its app, the first that can be started`() throws {
        let user = try User(environment: ["PATH": "/nowhere"])
        try user.write("bin/fox", "#!/bin/sh\n", mode: 0o755)
        let entry = "[Desktop Entry]\nType=Application\nName="
        try user.write("data/applications/gone.desktop", entry + "Gone\nExec=/nowhere/gone %u\n")
        try user.write("data/applications/fox.desktop", entry + "Fox\nExec=\(user.scratch.path("bin/fox")) %u\n")
        let types = ["https=gone.desktop;fox.desktop", "tel=gone.desktop"].map { "x-scheme-handler/\($0)" }
        try user.write("config/mimeapps.list", "[Default Applications]\n" + types.joined(separator: "\n") + "\n")
        let found = try findings(user).found
        #expect(found["scheme https"]?["state"] as? String == "works")
        #expect((found["scheme https"]?["message"] as? String)?.hasPrefix("Fox opens it (") == true)
        #expect(found["scheme http"]?["state"] as? String == "fails")
        #expect(found["scheme tel"]?["state"] as? String == "limited")
        #expect((found["scheme tel"]?["message"] as? String)?.hasPrefix("Gone can't be started (") == true)
        for scheme in ["mailto", "sms", "geo", "facetime", "facetime-audio", "x-hm"] {
            #expect(found["scheme \(scheme)"]?["state"] as? String == "limited", "\(scheme)")
        }
        let fix = "Install an app for it, and: xdg-mime default NAME.desktop x-scheme-handler/mailto"
        #expect(found["scheme mailto"]?["fix"] as? String == fix)
    }

    @Test func `The age of each association file is shown, and what is wrong with an app`() throws {
        let user = try User()
        let file = User.association
        try user.cache(file, served: 10 * 86400, failure: "no-connection: It is off.")
        try user.write("data/nfc/apps/org.example.Bad.json", "{")
        let found = try findings(user).found
        let association = try #require(found["association good.site.example"])
        #expect(association["state"] as? String == "limited")
        let message = "The site answered 10 days ago; the last try failed: no-connection: It is off."
        #expect(association["message"] as? String == message)
        #expect(found["app \(user.scratch.path("data/nfc/apps/org.example.Bad.json"))"]?["state"] as? String == "fails")
        try user.cache(file)
        let fresh = try #require(try findings(user).found["association good.site.example"])
        #expect(fresh["message"] as? String == "The site answered just now.")
    }
}
