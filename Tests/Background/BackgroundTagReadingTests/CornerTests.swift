// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import Testing

/// Ends of ranges, and answers to which several things contribute.
@Suite struct `Corners of reading in the background` {
    private func link(_ text: String) throws -> SystemLink? { SystemLink(try Fixture.uri(text)) }

    @Test func `A call needs a digit, and a message takes a name too`() throws {
        #expect(try link("tel:alice") == nil)
        #expect(try link("tel:alice1") != nil)
        #expect(try link("sms:alice") != nil)
        #expect(try link("facetime:alice@b.example")?.target == "alice@b.example")
        // The letters of an escape are no name.
        #expect(try link("sms:%C3%AF") == nil)
        #expect(try link("sms:%C3%AFx") != nil)
    }

    @Test(arguments: [("%7E", "~"), ("%20", " "), ("%7F", "%7F"), ("%1F", "%1F"), ("%G0", "%G0")])
    func `Escapes of visible characters are resolved, from the space to the tilde`(_ escape: String, _ text: String)
        throws
    {
        #expect(try link("tel:1\(escape)2")?.target == "1\(text)2")
    }

    @Test func `As many domains have the browser as may, and no more`() {
        var choices = LinkChoices()
        for number in 0..<LinkChoices.maximumCount {
            #expect(choices.choose("h\(number).example", isBrowser: true) != nil)
        }
        #expect(choices.choose("other.example", isBrowser: true) == nil)
        #expect(choices.browserDomains.count == LinkChoices.maximumCount)
        // One that has it already may be chosen again.
        #expect(choices.choose("h0.example", isBrowser: true) == "h0.example")
        // A domain that is given back to its app makes room.
        #expect(choices.choose("h0.example", isBrowser: false) == "h0.example")
        #expect(choices.choose("other.example", isBrowser: true) == "other.example")
    }

    @Test func `A file has room for as many domains as may have the browser, each of the greatest length`() {
        var choices = LinkChoices()
        let label = String(repeating: "a", count: 63)
        for number in 1000..<1000 + LinkChoices.maximumCount {
            let last = "\(number)" + String(repeating: "b", count: 57)
            let domain = "*." + [label, label, label, last].joined(separator: ".")
            #expect(choices.choose(domain, isBrowser: true) == domain)
        }
        // Each has 253 bytes, two of a wildcard, and nine of the choice and the end of its line.
        #expect(choices.file.count == 264 * LinkChoices.maximumCount)
        let read = LinkChoices(parsing: choices.file)
        #expect(read == choices && read.browserDomains.count == LinkChoices.maximumCount)
    }

    @Test func `A percent sign in a word leaves it one word`() throws {
        let text = "[Desktop Entry]\nType=Application\nName=An App\nExec=app a%%b%%%u\n"
        let entry = try #require(DesktopEntry(parsing: Array(text.utf8)))
        let command = try StartCommand(parsing: try #require(entry.command))
        #expect(command.arguments(uri: "x:1", entry: entry, path: "/e") == ["app", "a%b%x:1"])
    }

    @Test func `A switch of radios is known by all four bytes of its number`() {
        func event(_ index: [UInt8], type: UInt8, operation: UInt8, isBlocked: Bool) -> [UInt8] {
            index + [type, operation, isBlocked ? 1 : 0, 0]
        }
        for place in 0..<4 {
            var radios = RadioSwitches()
            var other: [UInt8] = [0, 0, 0, 0]
            other[place] = 1
            radios.take(event([0, 0, 0, 0], type: 1, operation: 0, isBlocked: true))
            radios.take(event(other, type: 2, operation: 0, isBlocked: false))
            #expect(!radios.isAirplaneModeOn, "byte \(place)")
            // The one is taken out, and the other stays.
            radios.take(event(other, type: 2, operation: 1, isBlocked: false))
            #expect(radios.isAirplaneModeOn, "byte \(place)")
        }
    }

    @Test func `The longest domain says why a link is refused, whatever the others say`() throws {
        var router = try Fixture.router()
        router.associations["a.example.org"] = try Fixture.matcher(
            #"{"appIDs":["TEAM.org.example.reader"],"paths":["/z"]}"#
        )
        router.apps = [
            InstalledApp(
                id: "TEAM.org.example.reader",
                name: "Reader",
                desktopID: "org.example.Reader",
                associatedDomains: Fixture.domains("applinks:*.org", "applinks:a.example.org"),
                schemes: [],
                isBusActivated: true
            )
        ]
        guard case .browser(let why) = router.route(try Fixture.uri("https://a.example.org/x")) else {
            Issue.record("It does not go to the browser.")
            return
        }
        #expect(why == "No rule of an installed app matches the URL.", "\(why)")
    }

    @Test(arguments: [
        ("az09+-.:x", true), ("zz:x", true), ("a9:x", true), ("9a:x", false), ("{a:x", false), ("a`:x", false),
        ("a/:x", false), ("a;b:x", false), ("a,b:x", false),
    ])
    func `A scheme has small letters, digits, and three signs`(_ text: String, _ isScheme: Bool) {
        #expect((TagURI(text) != nil) == isScheme)
        #expect((TagURI("https://b.example:9089/") != nil) == true)
    }

    @Test(arguments: ["a%@b.example", "a@b.example%", "a@b.example%2", "a@b.example%0"])
    func `A mail whose escape is cut off is looked at up to its end`(_ address: String) throws {
        let isUsable = !address.hasSuffix("%0")
        #expect((try link("mailto:\(address)") != nil) == isUsable, "\(address)")
    }

    @Test func `Names of entries sort by time and then by number, and read as they are written`() throws {
        let ids = [(1, 0), (1, 2), (2, 0), (2, 1)].map { InboxEntry.ID(received: UInt64($0.0), number: UInt32($0.1)) }
        for (index, left) in ids.enumerated() {
            for (other, right) in ids.enumerated() { #expect((left < right) == (index < other)) }
        }
        let id = InboxEntry.ID(received: 0x0123_4567_89AB, number: 0xCDEF_0123)
        #expect(id.description == "0123456789abcdef0123")
        #expect(InboxEntry.ID(id.description) == id)
        #expect(InboxEntry.ID("0123456789ABcdef0123") == nil)
    }
}
