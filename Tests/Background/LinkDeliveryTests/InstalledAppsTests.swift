// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import Testing

struct InstalledAppsTests {
    private let scratch: Scratch
    private let folders: UserFolders

    init() throws {
        scratch = try Scratch()
        folders = scratch.folders
    }

    private func install(_ name: String, _ id: String, in folder: String = "own", domain: String = "a.example") throws {
        try scratch.write(
            "\(folder)/nfc/apps/\(name).json",
            #"{"app_id":"\#(id)","associated_domains":["applinks:\#(domain)"]}"#
        )
    }

    private func entry(_ name: String, in folder: String = "own", title: String = "App") throws {
        try scratch.write(
            "\(folder)/applications/\(name).desktop",
            "[Desktop Entry]\nType=Application\nName=\(title)\nDBusActivatable=true\n"
        )
    }

    @Test func `apps: found by description and desktop entry, of which a file of the user hides the system's`() throws {
        try install("org.x.One", "T.org.x.one", in: "system", domain: "system.example")
        try entry("org.x.One", in: "system")
        try install("org.x.Two", "T.org.x.two", in: "system")
        try entry("org.x.Two", in: "system", title: "Two")
        var found = InstalledApps(folders)
        #expect(found.apps.map(\.id) == ["T.org.x.one", "T.org.x.two"])
        try install("org.x.One", "T.org.x.one")
        try entry("org.x.Two", title: "Mine")
        found = InstalledApps(folders)
        #expect(found.apps.map(\.linkedDomains) == [["a.example"], ["a.example"]])
        #expect(found.apps.map(\.name) == ["App", "Mine"])
        #expect(found.problems == [])
    }

    @Test func `apps: each invalid file has a reason and does not hide other apps`() throws {
        try install("org.x.Good", "T.org.x.good")
        try entry("org.x.Good")
        try install("org.x.NoEntry", "T.org.x.noentry")
        try install("org.x.Same", "T.org.x.good")
        try entry("org.x.Same")
        try scratch.write("own/nfc/apps/org.x.Bad.json", "{")
        try scratch.write("own/nfc/apps/a b.json", "{}")
        try scratch.write("own/nfc/apps/org.x.Big.json", String(repeating: " ", count: 100_000))
        try scratch.write("own/nfc/apps/org.x.Open.json", "{}", mode: 0o666)
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/own/nfc/apps/org.x.Folder.json",
            withIntermediateDirectories: true
        )
        let pipe = unsafe mkfifo(scratch.path + "/own/nfc/apps/org.x.Pipe.json", 0o600)
        #expect(pipe == 0)
        try install("org.x.Entry", "T.org.x.entry")
        try scratch.write("own/applications/org.x.Entry.desktop", "[Desktop Entry]\nType=Link\n")
        let found = InstalledApps(folders)
        #expect(found.apps.map(\.id) == ["T.org.x.good"])
        let reasons = Dictionary(
            uniqueKeysWithValues: found.problems.map { (($0.path as NSString).lastPathComponent, $0.reason) }
        )
        #expect(reasons.count == 9)
        #expect(reasons["a b.json"] == "The file name is not valid for a desktop entry.")
        #expect(reasons["org.x.NoEntry.json"]?.contains("org.x.NoEntry.desktop") == true)
        #expect(reasons["org.x.Same.json"]?.contains("T.org.x.good") == true)
        #expect(reasons["org.x.Open.json"]?.contains("by another user") == true)
        #expect(reasons["org.x.Pipe.json"]?.contains("regular") == true)
        #expect(reasons["org.x.Big.json"]?.contains("larger") == true)
    }

    @Test func `apps: have the properties of both files, and ignored domains are reported`() throws {
        let domains = #"["applinks:a.example","nonsense"]"#
        try scratch.write("own/nfc/apps/org.x.App.json", #"{"app_id":"T.x","associated_domains":\#(domains)}"#)
        let entry = "[Desktop Entry]\nType=Application\nName=App\nMimeType=x-scheme-handler/own;\n"
        try scratch.write("own/applications/org.x.App.desktop", entry + "DBusActivatable=true\n")
        let found = InstalledApps(folders)
        let app = try #require(found.apps.first)
        #expect(found.apps.count == 1 && app.id == "T.x" && app.name == "App" && app.desktopID == "org.x.App")
        #expect(app.linkedDomains == ["a.example"] && app.ignoredDomains == ["nonsense"])
        #expect(app.schemes == ["own"] && app.isBusActivated)
        #expect(found.problems.map(\.path) == [scratch.path + "/own/nfc/apps/org.x.App.json"])
        let reason = "\"nonsense\" has no service. Write applinks: before the domain. The entry is ignored."
        #expect(found.problems.map(\.reason) == [reason])
    }

    @Test func `apps: an invalid description of the user hides the system's of the same name`() throws {
        try install("org.x.One", "T.org.x.one", in: "system")
        try entry("org.x.One", in: "system")
        try scratch.write("own/nfc/apps/org.x.One.json", "{")
        // A file that is only an ending is none.
        try scratch.write("own/nfc/apps/.json", "{")
        let found = InstalledApps(folders)
        #expect(found.apps == [])
        #expect(found.problems.map(\.path) == [scratch.path + "/own/nfc/apps/org.x.One.json"])
    }

    @Test func `apps: of 1001 descriptions only 1000 are read`() throws {
        for number in 1...1001 { try scratch.write("own/nfc/apps/no entry \(number).json", "") }
        #expect(InstalledApps(folders).problems.count == 1000)
    }

    @Test func `apps: a description of another user does not count`() throws {
        try install("org.x.Good", "T.org.x.good")
        try entry("org.x.Good")
        // Only the system's owner can give a file away.
        guard geteuid() == 0 else { return }
        let status = unsafe chown(scratch.path + "/own/nfc/apps/org.x.Good.json", 65534, 65534)
        #expect(status == 0)
        let found = InstalledApps(folders)
        #expect(found.apps == [])
        #expect(found.problems.first?.reason.contains("another user") == true)
    }
}
