// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinkDelivery
import LinuxSupport
import Testing

struct DesktopEntriesTests {
    private let scratch: Scratch
    private let folders: UserFolders

    init() throws {
        scratch = try Scratch()
        folders = scratch.folders
        for name in ["one", "two", "three", "kde/four"] {
            try scratch.write(
                "system/applications/\(name).desktop",
                "[Desktop Entry]\nType=Application\nName=\(name)\n"
            )
        }
    }

    private func list(_ file: String, _ group: String, _ apps: String) throws {
        try scratch.write(file, "[\(group)]\nx-scheme-handler/tel=\(apps)\n")
    }

    private func handlers(_ desktops: String = "") -> [String] {
        DesktopEntries(folders, desktops: desktops).handlers(of: "tel").map(\.name)
    }

    @Test func `handlers: the default app is first, the user's list before the system's`() throws {
        #expect(handlers() == [])
        try list("system/applications/mimeinfo.cache", "MIME Cache", "one.desktop;two.desktop;")
        #expect(handlers() == ["one", "two"])
        try list("etc/mimeapps.list", "Default Applications", "two.desktop")
        #expect(handlers() == ["two", "one"])
        try list("config/mimeapps.list", "Default Applications", "kde-four.desktop;three.desktop")
        #expect(handlers() == ["kde-four", "three", "two", "one"])
        try list("config/phosh-mimeapps.list", "Default Applications", "one.desktop")
        #expect(handlers("Phosh:GNOME").first == "one")
        #expect(handlers("../x").first == "kde-four")
    }

    @Test func `handlers of a scheme: entries that are removed, missing or writable by others do not count`() throws {
        try list(
            "system/applications/mimeinfo.cache",
            "MIME Cache",
            "one.desktop;two.desktop;gone.desktop;../x.desktop;"
        )
        try list("config/mimeapps.list", "Removed Associations", "one.desktop;")
        #expect(handlers() == ["two"])
        try scratch.write("own/applications/two.desktop", "[Desktop Entry]\nType=Application\nName=x\n", mode: 0o666)
        #expect(handlers() == [])
        try scratch.write(
            "config/mimeapps.list",
            "[Default Applications]\nx-scheme-handler/tel=three.desktop",
            mode: 0o666
        )
        #expect(handlers() == ["one"])
    }

    @Test func `desktop entry in a subfolder: kde/four is found as kde-four; an unusable entry throws its reason`()
        throws
    {
        let entries = DesktopEntries(folders)
        func reason(_ name: String) -> String? {
            #expect(throws: AppError.self) { try entries.entry(name) }?.reason
        }
        #expect(try entries.entry("kde-four").path.hasSuffix("/system/applications/kde/four.desktop"))
        #expect(reason("kde/four") == "The name is not valid for a desktop entry.")
        #expect(reason("gone")?.contains("gone.desktop is missing") == true)
        let text = "[Desktop Entry]\nType=Application\nName=x\n"
        // An unsafe file hides the system's one; in a folder of another name it is as good as none.
        try scratch.write("own/applications/one.desktop", text, mode: 0o666)
        #expect(reason("one")?.contains("by another user") == true)
        try scratch.write("own/applications/kde/four.desktop", text, mode: 0o666)
        #expect(try entries.entry("kde-four").path.hasSuffix("/system/applications/kde/four.desktop"))
        try scratch.write("own/applications/kde-four.desktop", text, mode: 0o666)
        #expect(reason("kde-four")?.contains("by another user") == true)
        try scratch.write("own/applications/two.desktop", "[Desktop Entry]\nType=Link\n")
        #expect(
            reason("two")?.hasSuffix("/own/applications/two.desktop is not the desktop entry of a visible app.")
                == true
        )
        // A file that can't be read is not passed over either.
        try scratch.write("own/applications/kde/five.desktop", String(repeating: "#", count: 2 << 20))
        #expect(reason("kde-five")?.contains("larger") == true)
    }

    @Test func `handlers: added apps follow the default unless they are removed, four at most`() throws {
        try list("etc/mimeapps.list", "Added Associations", "one.desktop;two.desktop;three.desktop;one.desktop")
        #expect(handlers() == ["one", "two", "three"])
        try list("config/mimeapps.list", "Removed Associations", "two.desktop")
        #expect(handlers() == ["one", "three"])
        try list("system/applications/mimeinfo.cache", "MIME Cache", "two.desktop;kde-four.desktop;one")
        #expect(handlers() == ["one", "three", "kde-four"])
        // It still counts as a default.
        try list("etc/other-mimeapps.list", "Default Applications", "two.desktop")
        #expect(handlers("other") == ["two", "one", "three", "kde-four"])
        try scratch.write("system/applications/five.desktop", "[Desktop Entry]\nType=Application\nName=5\n")
        try list("system/applications/mimeinfo.cache", "MIME Cache", "kde-four.desktop;five.desktop;")
        let entries = DesktopEntries(folders, desktops: "other")
        #expect(entries.handlers(of: "tel", limit: 9).map(\.name) == ["two", "one", "three", "kde-four", "five"])
        for limit in 0...4 { #expect(entries.handlers(of: "tel", limit: limit).count == limit) }
        #expect(entries.handlers(of: "tel").count == 4)
        let both = entries.handlers(of: ["tel", "mailto", "tel"])
        #expect(both["tel"]?.count == 4 && both["mailto"] == [] && both.count == 2)
    }

    @Test func `handlers: a desktop's name with a slash is ignored, and only the first eight desktops count`() throws {
        try list("config/x/y-mimeapps.list", "Default Applications", "one.desktop")
        #expect(handlers("x/y") == [] && handlers("..") == [])
        try list("config/h-mimeapps.list", "Default Applications", "one.desktop")
        #expect(handlers("a:b:c:d:e:f:g:h") == ["one"] && handlers("a:b:c:d:e:f:g:i:h") == [])
    }

    @Test func `browser choices: saved with mode 0600, and read again`() throws {
        #expect(LinkChoices(of: folders) == LinkChoices())
        var choices = LinkChoices()
        _ = choices.choose("a.example", isBrowser: true)
        try choices.save(in: folders)
        #expect(LinkChoices(of: folders) == choices)
        #expect(try scratch.mode("config/nfc/browser-domains") == 0o600)
    }

    @Test func `browser choices: the maximum number of the longest domains is read again`() throws {
        var choices = LinkChoices()
        let label = String(repeating: "a", count: 63)
        for number in 1000..<1000 + LinkChoices.maximumCount {
            let last = "\(number)" + String(repeating: "b", count: 57)
            _ = choices.choose("*." + [label, label, label, last].joined(separator: "."), isBrowser: true)
        }
        try choices.save(in: folders)
        let kept = LinkChoices(of: folders)
        #expect(kept == choices && kept.browserDomains.count == LinkChoices.maximumCount)
    }
}
