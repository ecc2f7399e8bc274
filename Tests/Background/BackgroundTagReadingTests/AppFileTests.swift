// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// The files of apps at the ends of their ranges: descriptions, desktop entries, and the commands in these.
@Suite struct `The files of an app, at their ends` {
    private func entry(_ lines: String...) -> DesktopEntry? {
        let text = ["[Desktop Entry]", "Type=Application", "Name=App"] + lines
        return DesktopEntry(parsing: Array(text.joined(separator: "\n").utf8))
    }

    @Test func `A description is as large as may be, and no larger`() throws {
        let text = Array(#"{"app_id":"T.x","associated_domains":["applinks:a.example"]}"#.utf8)
        let full = text + [UInt8](repeating: 0x20, count: AppDescription.maximumSize - text.count)
        #expect(try AppDescription(parsing: full).id == "T.x")
        let problem = #expect(throws: AppDescription.Problem.self) { try AppDescription(parsing: full + [0x20]) }
        #expect(problem?.reason == "The file is larger than 65536 bytes.")
    }

    @Test(arguments: [100, 101])
    func `A remark says that there are too many domains, and not sooner`(_ count: Int) throws {
        let domains = (0..<count).map { #""applinks:a\#($0).example""# }.joined(separator: ",")
        let app = try AppDescription(parsing: Array(#"{"app_id":"T.x","associated_domains":[\#(domains)]}"#.utf8))
        #expect(app.associatedDomains.count == 100)
        #expect(app.remarks == (count == 100 ? [] : ["Only the first 100 associated domains count."]))
    }

    @Test func `An entry that is ignored is shown without what nobody sees, and kept as it is written`() throws {
        let text = "{\"app_id\":\"T.x\",\"associated_domains\":[\"non\u{202E}sense\"]}"
        let app = try AppDescription(parsing: Array(text.utf8))
        let advice = "write a service before it, as in applinks:example.org."
        #expect(app.remarks == ["The entry \"non\u{FFFD}sense\" is ignored: \(advice)"])
        #expect(app.ignoredDomains == ["non\u{202E}sense"])
    }

    @Test func `An identifier has up to 255 bytes, and the name of an entry up to 200`() {
        let identifier = "T." + String(repeating: "x", count: 253)
        #expect(AppDescription.isIdentifier(identifier) && !AppDescription.isIdentifier(identifier + "x"))
        let name = "a." + String(repeating: "x", count: 198)
        #expect(DesktopEntry.isName(name) && !DesktopEntry.isName(name + "x"))
    }

    @Test func `A desktop entry is as large as may be, and no larger`() {
        let text = Array("[Desktop Entry]\nType=Application\nName=App\n#".utf8)
        let full = text + [UInt8](repeating: 0x78, count: DesktopEntry.maximumSize - text.count)
        #expect(DesktopEntry(parsing: full)?.name == "App" && DesktopEntry(parsing: full + [0x78]) == nil)
    }

    @Test(arguments: [
        (#"/a\sb"#, "/a b"), (#"/a\nb"#, "/a\nb"), (#"/a\tb"#, "/a\tb"), (#"/a\rb"#, "/a\rb"), (#"/a\\b"#, #"/a\b"#),
        (#"/a\xb"#, #"/a\xb"#), (#"/a\"#, #"/a\"#), (#"/a\\"#, #"/a\"#),
    ])
    func `Escapes of a value are resolved, and others stay as they are`(_ written: String, _ folder: String) {
        #expect(entry("Path=\(written)")?.folder == folder)
    }

    @Test func `A type that handles no scheme adds none`() {
        #expect(entry("MimeType=application/vnd.example;x-scheme-handler/own;")?.schemes == ["own"])
    }

    @Test func `Tabs around a key and its value do not count`() {
        #expect(entry("\tIcon\t=\tx y\t")?.icon == "x y")
    }

    @Test(arguments: ["app %f %u", "app %F %u", "app %u %f", "app x%F", "app %F%u"])
    func `A command has one place for what it opens, and a list stands alone`(_ text: String) {
        #expect(throws: StartCommand.Problem.self) { try StartCommand(parsing: text) }
    }

    @Test func `Only a command with several places for a link is one that takes none`() {
        let several = #expect(throws: StartCommand.Problem.self) { try StartCommand(parsing: "app %f %u") }
        #expect(several?.isAmbiguous == true)
        let other = #expect(throws: StartCommand.Problem.self) { try StartCommand(parsing: "app %x") }
        #expect(other?.isAmbiguous == false)
    }

    @Test func `A percent sign in quotation marks is written twice`() throws {
        let app = try #require(entry("Exec=app \"50%% off\""))
        let command = try StartCommand(parsing: try #require(app.command))
        #expect(command.arguments(uri: nil, entry: app, path: "/e") == ["app", "50% off"])
        #expect(throws: StartCommand.Problem.self) { try StartCommand(parsing: "app \"50%\"") }
    }

    @Test func `A command has up to 16384 bytes`() throws {
        let full = "app " + String(repeating: "x", count: (1 << 14) - 4)
        #expect(try StartCommand(parsing: full).program == "app")
        let problem = #expect(throws: StartCommand.Problem.self) { try StartCommand(parsing: full + "x") }
        #expect(problem?.reason == "Exec is too long.")
    }
}
