// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// Lines, values and words in the files of apps that are easy to read in another way.
@Suite struct `Corners of the files of an app` {
    private func entry(_ text: String) -> DesktopEntry? { DesktopEntry(parsing: Array(text.utf8)) }

    private let start = "[Desktop Entry]\nType=Application\nName=App\n"

    @Test func `Lines may end as on Windows, and what stands before the group does not count`() throws {
        let text = "Icon=no\r\n\r\n[Desktop Entry]\r\nType=Application\r\nName=App\r\n#Icon=no\r\nIcon=x\r\n"
        let found = try #require(entry(text))
        #expect(found.name == "App" && found.icon == "x")
    }

    @Test func `A key without a value is as good as none`() throws {
        let found = try #require(entry(start + "Path=\nIcon=\nExec=\nTryExec=\nHidden=\nTerminal=\nMimeType=\n"))
        #expect(found.folder == nil && found.icon == nil && found.command == nil && found.neededProgram == nil)
        #expect(!found.needsTerminal && found.schemes == [] && !found.isBusActivated && !found.takesMessages)
        #expect(entry("[Desktop Entry]\nType=Application\nName=\n") == nil)
        #expect(entry("[Desktop Entry]\nType=\nName=App\n") == nil)
    }

    @Test func `A value may have equals signs, and a switch is on with one word`() throws {
        let found = try #require(entry(start + "Icon=a=b\nHidden=false\nTerminal=True\nDBusActivatable=1\n"))
        #expect(found.icon == "a=b" && !found.needsTerminal && !found.isBusActivated)
    }

    @Test(arguments: [(999, true), (1000, false)])
    func `Of a list a thousand elements count`(_ count: Int, _ isSeen: Bool) throws {
        let types = String(repeating: "text/plain;", count: count) + "x-scheme-handler/own;"
        let services = String(repeating: "a.B;", count: count) + "\(DeliveryInterface.name);"
        let found = try #require(entry(start + "MimeType=\(types)\nImplements=\(services)\n"))
        #expect(found.schemes == (isSeen ? ["own"] : []) && found.takesMessages == isSeen)
    }

    @Test func `The name of an entry has letters, digits, hyphens and low lines of ASCII alone`() {
        #expect(DesktopEntry.isName("az.AZ.09.-_"))
        for sign in ["/", ":", "@", "[", "`", "{", ",", "^", "\u{E9}", "~"] {
            #expect(!DesktopEntry.isName("a\(sign)b"), "\(sign)")
        }
        for name in [".a", "a.", "."] { #expect(!DesktopEntry.isName(name), "\(name)") }
    }

    @Test(arguments: ["app%u", "\"app\"%u", "%c", "%U", "%i"])
    func `A program is a word without a place for anything`(_ text: String) {
        #expect(throws: StartCommand.Problem.self) { try StartCommand(parsing: text) }
    }

    @Test func `A place for links is a word, or a part of one that is not quoted`() throws {
        #expect(try StartCommand(parsing: "\"my app\" %U").program == "my app")
        #expect(try StartCommand(parsing: "app%% x").program == "app%")
        #expect(try StartCommand(parsing: "app %U").takesURI && StartCommand(parsing: "app -l=%u").takesURI)
        for text in ["app", "app %F", "app %c", "app \"%%u\"", "app %%u"] {
            #expect(try !StartCommand(parsing: text).takesURI, "\(text)")
        }
    }

    @Test func `Without a link the rest of its word stays`() throws {
        let found = try #require(entry(start))
        for (text, words) in [
            ("app --link=%u %d", ["app", "--link="]), ("app x%f", ["app", "x"]), ("app %U", ["app"]),
            ("app \"\"", ["app", ""]),
        ] {
            let command = try StartCommand(parsing: text)
            #expect(command.arguments(uri: nil, entry: found, path: "/e") == words, "\(text)")
        }
    }
}
