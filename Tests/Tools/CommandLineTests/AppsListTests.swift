// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What nfc apps says of each app and each of its domains.
@Suite(.ownThreads) struct `The list of apps` {
    private let user: User

    init() throws {
        user = try User()
        let domains = ["applinks:good.site.example", "applinks:*.wild.example", "webcredentials:cred.example"]
        let list = domains.map { "\"\($0)\"" }.joined(separator: ",")
        try user.write(
            "data/nfc/apps/org.example.Reader.json",
            #"{"app_id":"TEAM.org.example.reader","associated_domains":[\#(list)]}"#
        )
    }

    /// Changes how the app is started.
    private func start(by lines: String) throws {
        let entry = "[Desktop Entry]\nType=Application\nName=Reader\nMimeType=x-scheme-handler/reader;\n"
        try user.write("data/applications/org.example.Reader.desktop", entry + lines)
    }

    /// The three days after which the site of the first domain could not be asked.
    private static let age = 3 * 86400

    /// Puts the association files of both domains into the cache.
    private func cache() throws {
        try user.cache(User.association, served: Int64(Self.age), failure: "no-connection: It is off.")
        try user.cache(User.association.replacing("TEAM.org", with: "OTHER.org"), of: "wild.example")
    }

    @Test func `Each domain has its state and its links, for people and in JSON`() throws {
        try cache()
        try start(by: "Exec=/bin/true %u\n")
        let chosen = try user.nfc.run("apps", "choose", "*.wild.example", "browser", "--json")
        #expect(chosen.output == #"{"ok":true,"domain":"*.wild.example","opens":"browser"}"# + "\n")
        let text = try user.nfc.run("apps")
        #expect(text.status == 0)
        #expect(
            text.output == """
                Reader  TEAM.org.example.reader  (org.example.Reader.desktop)
                  started by its command, and given the link alone
                  applinks:good.site.example
                    the site answered 3 days ago
                    the last try failed: no-connection: It is off.
                    details[0].components[0] {"/": "/x/*"}
                  applinks:*.wild.example
                    the browser was chosen for it
                    the site answered just now
                    the association file gives this app no links
                  webcredentials:cred.example
                  reader: only where custom schemes are allowed

                """
        )
        let app = try user.nfc.object("apps")
        #expect(app["ok"] as? Bool == true && app["app_id"] as? String == "TEAM.org.example.reader")
        #expect(app["name"] as? String == "Reader" && app["desktop_id"] as? String == "org.example.Reader")
        #expect(app["dbus_activatable"] as? Bool == false && app["schemes"] as? [String] == ["reader"])
        #expect(app["started_by"] as? String == "link" && app["message"] is NSNull)
        let domains = try #require(app["associated_domains"] as? [[String: Any]])
        try #require(domains.count == 3)
        let entries = ["applinks:good.site.example", "applinks:*.wild.example", "webcredentials:cred.example"]
        #expect(domains.map { $0["entry"] as? String } == entries)
        #expect(domains.map { $0["domain"] as? String } == ["good.site.example", "wild.example", "cred.example"])
        #expect(domains.map { $0["opens"] as? String } == ["app", "browser", nil])
        #expect(domains.map { $0["source"] as? String } == ["site", "site", nil])
        let age = try #require(domains[0]["age_s"] as? Int)
        #expect((Self.age...Self.age + 600).contains(age))
        #expect(domains[0]["failure"] as? String == "no-connection: It is off." && domains[1]["failure"] is NSNull)
        #expect((domains[0]["rules"] as? [String])?.count == 1 && domains[1]["rules"] as? [String] == [])
        #expect(Set(domains[2].keys) == ["entry", "domain"])
        let line = try user.nfc.run("apps", "--json").output.replacing(#/"age_s":[0-9]+/#, with: "\"age_s\":N")
        #expect(line == Self.line + "\n")
    }

    /// The app in JSON.
    private static let line = #"""
        {"ok":true,"app_id":"TEAM.org.example.reader","name":"Reader","desktop_id":"org.example.Reader",\#
        "dbus_activatable":false,"started_by":"link","message":null,"associated_domains":[\#
        {"entry":"applinks:good.site.example","domain":"good.site.example","opens":"app","source":"site",\#
        "age_s":N,"failure":"no-connection: It is off.","rules":["details[0].components[0] {\"/\": \"/x/*\"}"]},\#
        {"entry":"applinks:*.wild.example","domain":"wild.example","opens":"browser","source":"site",\#
        "age_s":N,"failure":null,"rules":[]},{"entry":"webcredentials:cred.example","domain":"cred.example"}],\#
        "schemes":["reader"]}
        """#

    @Test(
        arguments: [
            ("DBusActivatable=true\n", "bus", "started by the bus"),
            ("Exec=/bin/true\nImplements=org.opencorenfc.UserActivity1;\n", "command", "and given the message"),
            ("Exec=/nowhere/app %u\n", nil, nil),
        ] as [(String, String?, String?)]
    )
    func `How an app is started is said, or why it can't be`(lines: String, way: String?, words: String?) throws {
        try start(by: lines)
        let app = try user.nfc.object("apps")
        #expect(app["started_by"] as? String == way)
        #expect(app["dbus_activatable"] as? Bool == (way == "bus"))
        let text = try user.nfc.run("apps").lines
        try #require(text.count > 1)
        if let words {
            #expect(app["message"] is NSNull)
            #expect(text[1].hasSuffix(words), "\(text)")
        } else {
            let reason = try #require(app["message"] as? String)
            #expect(text[1] == "  " + reason)
        }
    }

    @Test func `Where there is no app it says so, unless one is damaged`() throws {
        try FileManager.default.removeItem(atPath: user.scratch.path("data"))
        let none = try user.nfc.run("apps")
        #expect(none.status == 0 && none.output == "No app is installed. See: nfc apps --help\n")
        #expect(try user.nfc.run("apps", "--json").output == "")
        try user.write("data/nfc/apps/org.example.Bad.json", "{")
        let path = user.scratch.path("data/nfc/apps/org.example.Bad.json")
        let damaged = try user.nfc.run("apps")
        #expect(damaged.status == 1 && damaged.lines.count == 1)
        #expect(damaged.output.hasPrefix("\(path): "))
        let object = try user.nfc.object("apps")
        #expect(object["path"] as? String == path)
        let start = #"{"ok":false,"error":"bad-description","path":"\#(path)","message":""#
        #expect(try user.nfc.run("apps", "--json").output.hasPrefix(start))
        #expect(damaged.output == "\(path): \(object["message"] as? String ?? "")\n")
    }

    @Test func `What an app that is gone had can be given back to it`() throws {
        let words = ["apps", "choose", "gone.example"]
        #expect(try user.nfc.run(words + ["browser"]).status == 1)
        let back = try user.nfc.run(words + ["app"])
        #expect(back.status == 0)
        #expect(back.output == "Links of gone.example open in the app that has them.\n")
    }
}
