// SPDX-License-Identifier: Apache-2.0
import BusTesting
import Testing

@testable import LinkDelivery

@Suite struct `The findings about apps` {
    private func findings(_ desk: Desk, _ check: String) -> [Finding] {
        Examination(environment: desk.environment, now: 0).findings.filter { $0.check == check }
    }

    /// A desk with an app that opens the links of a domain.
    private func deskWithLinks() throws -> Desk {
        let desk = try Desk()
        try desk.program("app")
        try desk.entry("org.example.App", "Exec=app %u")
        try desk.scratch.write(
            "own/nfc/apps/org.example.App.json",
            #"{"app_id":"T.org.example.app","associated_domains":["applinks:a.example"]}"#
        )
        return desk
    }

    @Test func `name for each scheme what opens it, what is wrong, and what to do`() throws {
        let desk = try Desk()
        let fix = { (scheme: String) in
            "Install an app for it, and: xdg-mime default NAME.desktop x-scheme-handler/\(scheme)"
        }
        var schemes = findings(desk, "scheme")
        #expect(schemes.first == Finding("scheme", of: "https", .fails, "No app opens it.", fix: fix("https")))
        #expect(schemes.contains(Finding("scheme", of: "tel", .limited, "No app opens it.", fix: fix("tel"))))
        try desk.program("app")
        try desk.program("xdg-open")
        try desk.entry("app", "Exec=app %u")
        try desk.entry("broken", "Exec=missing %u")
        try desk.scratch.write(
            "config/mimeapps.list",
            "[Default Applications]\nx-scheme-handler/tel=app.desktop\nx-scheme-handler/https=broken.desktop\n"
        )
        schemes = findings(desk, "scheme")
        let place = desk.scratch.path + "/own/applications/"
        #expect(schemes.contains(Finding("scheme", of: "tel", .works, "app opens it (\(place)app.desktop).")))
        let text = "broken can't be started (\(place)broken.desktop). xdg-open is left to choose."
        #expect(schemes.contains(Finding("scheme", of: "https", .limited, text, fix: fix("https"))))
    }

    @Test func `name the file of each domain, and that a local one takes the site's place`() throws {
        let desk = try Desk()
        #expect(findings(desk, "association") == [])
        try desk.program("app")
        try desk.entry("org.example.App", "Exec=app %u")
        try desk.scratch.write(
            "own/nfc/apps/org.example.App.json",
            #"{"app_id":"T.org.example.app","associated_domains":["applinks:a.example","applinks:*.a.example"]}"#
        )
        let none = "There is no association file, so links open in the browser."
        let fix = "nfc links fetch --force a.example"
        #expect(
            findings(desk, "association") == [Finding("association", of: "a.example", .fails, none, fix: fix)]
        )
        let file = #"{"applinks":{"details":[{"appIDs":["T.org.example.app"],"paths":["*"]}]}}"#
        try desk.scratch.write("config/nfc/links/a.example.association", file)
        let local = "A local file is used in developer mode; the site is not asked."
        let removal = "nfc links remove a.example"
        #expect(
            findings(desk, "association") == [Finding("association", of: "a.example", .limited, local, fix: removal)]
        )
    }

    @Test func `say why there is no file of a domain where the last try failed`() throws {
        let desk = try deskWithLinks()
        try desk.scratch.write("cache/nfc/links/a.example.links", "nfc-links 1 5 - - no-connection: It is off.\n")
        let text =
            "There is no association file, so links open in the browser. The last try failed: no-connection: It is off."
        let fix = "nfc links fetch --force a.example"
        #expect(
            findings(desk, "association") == [Finding("association", of: "a.example", .fails, text, fix: fix)]
        )
    }

    @Test func `say what is wrong with the folder of the association files`() throws {
        let desk = try deskWithLinks()
        // A file in its place, which is of no concern to a person without apps that have links.
        try desk.scratch.write("cache/nfc/links", "x")
        let empty = try Desk()
        try empty.scratch.write("cache/nfc/links", "x")
        #expect(findings(empty, "association") == [])
        let found = findings(desk, "association")
        #expect(found.map(\.state) == [.fails] && found.map(\.subject) == [nil])
        #expect(
            found.first?.text.hasPrefix("The folder \(desk.scratch.path)/cache/nfc/links can't be opened: ") == true
        )
        #expect(found.first?.fix == "See that the folder is the user's own.")
    }

    @Test func `say how long ago a site has answered, or that it is not known`() throws {
        let desk = try deskWithLinks()
        for (answered, text) in [
            ("0", "The site answered just now."), ("-300", "The site answered 5 minutes ago."),
            ("-", "The site answered at an unknown time."),
        ] {
            try desk.scratch.write("cache/nfc/links/a.example.links", "nfc-links 1 0 \(answered) 2 \n{}")
            #expect(findings(desk, "association") == [Finding("association", of: "a.example", .works, text)])
        }
        let failed = "nfc-links 1 0 -300 2 timeout: It is slow.\n{}"
        try desk.scratch.write("cache/nfc/links/a.example.links", failed)
        let text = "The site answered 5 minutes ago; the last try failed: timeout: It is slow."
        let fix = "nfc links fetch --force a.example"
        #expect(
            findings(desk, "association") == [Finding("association", of: "a.example", .limited, text, fix: fix)]
        )
    }

    @Test func `name each domain once, in the order of the apps`() throws {
        let desk = try deskWithLinks()
        try desk.entry("org.example.Other", "Exec=app %u")
        try desk.scratch.write(
            "own/nfc/apps/org.example.Other.json",
            #"{"app_id":"T.org.example.other","associated_domains":["applinks:b.example","applinks:a.example"]}"#
        )
        #expect(findings(desk, "association").map(\.subject) == ["a.example", "b.example"])
    }

    @Test(.enabled(if: TestBus.isInstalled, "dbus-daemon is not installed"))
    func `say of a user without a bus what to do, and nothing of what would be on it`() throws {
        let found = Examination(environment: try Desk().environment, now: 0).busFindings
        let fix = "Log in to a desktop, or run the programs in: dbus-run-session"
        #expect(found == [Finding("bus", .fails, "There is no bus of the user.", fix: fix)])
    }

    @Test func `name each app, and what is wrong with it`() throws {
        let desk = try Desk()
        #expect(findings(desk, "app") == [Finding("app", .works, "No app is installed: links open in the browser.")])
        try desk.scratch.write(
            "own/nfc/apps/org.example.App.json",
            #"{"app_id":"T.org.example.app","associated_domains":["applinks:a.example"]}"#
        )
        let missing = findings(desk, "app")
        #expect(missing.map(\.state) == [.fails] && missing[0].subject?.hasSuffix("/org.example.App.json") == true)
        #expect(missing[0].text == "There is no desktop entry org.example.App.desktop.")
        #expect(missing[0].fix == "Correct the file; see: nfc apps --help")
        try desk.entry("org.example.App", "Exec=app %u")
        let unstarted = findings(desk, "app")
        #expect(unstarted.map(\.subject) == ["T.org.example.app"] && unstarted.map(\.fix) == ["Install it again."])
        #expect(unstarted[0].text.contains("there is no program app."))
        try desk.program("app")
        #expect(
            findings(desk, "app") == [
                Finding("app", of: "T.org.example.app", .works, "org.example.App can be started.")
            ]
        )
    }
}
