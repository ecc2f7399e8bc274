// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// The whole answers of the commands about links, for people and for programs.
@Suite(.ownThreads) struct `Answers of nfc links` {
    private let user: User

    init() throws {
        user = try User()
        try user.write("bin/xdg-open", "#!/bin/sh\n", mode: 0o755)
        try user.write("aasa", User.association)
        try user.write("two", Self.two)
    }

    /// A file of three apps.
    private static let two = #"""
        {"applinks":{"details":[{"appIDs":["T.a","T.b"],"components":[{"/":"/x/private/*","exclude":true,\#
        "comment":"not yet"},{"/":"/x/*","?":{"id":"??"}}]},{"appIDs":["T.c"],"components":[{"/":"/y"}]}]}}
        """#

    /// Runs a command in both forms.
    private func run(_ words: String..., status: Int32 = 0) throws -> (text: String, json: String) {
        let text = try user.nfc.run(["links"] + words)
        let json = try user.nfc.run(["links"] + words + ["--json"])
        #expect(text.status == status && json.status == status, "\(text) \(json)")
        return (text.output, json.output.replacing(#/":[0-9]{4,}/#, with: "\":N"))
    }

    @Test func `Explain has each rule of each app, and why none before it matched`() throws {
        let found = try run("explain", user.scratch.path("two"), "https://a.example/x/1?id=42")
        #expect(
            found.text == #"""
                details[0]  T.a, T.b
                  details[0].components[0] {"/": "/x/private/*", "exclude": true}  not the path
                  details[0].components[1] {"/": "/x/*", "?": {"id": "??"}}  matches
                details[1]  T.c
                  details[1].components[0] {"/": "/y"}  not reached
                T.a: details[0].components[1] {"/": "/x/*", "?": {"id": "??"}} matches.

                """#
        )
        #expect(
            found.json == #"""
                {"ok":true,"error":null,"message":null,"app":"T.a",\#
                "rule":"details[0].components[1] {\"/\": \"/x/*\", \"?\": {\"id\": \"??\"}}",\#
                "why":"details[0].components[1] {\"/\": \"/x/*\", \"?\": {\"id\": \"??\"}} matches.",\#
                "url":"https://a.example/x/1?id=42","host":"a.example","source":"file","domain":null,\#
                "rules":[{"rule":"details[0].components[0] {\"/\": \"/x/private/*\", \"exclude\": true}",\#
                "apps":["T.a","T.b"],"verdict":"differs","reached":true,"differs_in":["path"]},\#
                {"rule":"details[0].components[1] {\"/\": \"/x/*\", \"?\": {\"id\": \"??\"}}","apps":["T.a","T.b"],\#
                "verdict":"matches","reached":true,"differs_in":[]},\#
                {"rule":"details[1].components[0] {\"/\": \"/y\"}","apps":["T.c"],"verdict":"not-reached",\#
                "reached":false,"differs_in":[]}],"opens_here":null,"here":null}

                """#
        )
        let excluded = try run(
            "explain",
            user.scratch.path("two"),
            "https://a.example/x/private/1",
            "--app",
            "T.b",
            status: 1
        )
        #expect(
            excluded.text == #"""
                details[0]  T.a (not installed), T.b
                  details[0].components[0] {"/": "/x/private/*", "exclude": true}  matches, and excludes the link
                  details[0].components[1] {"/": "/x/*", "?": {"id": "??"}}  not reached
                details[1]  T.c (not installed)
                  details[1].components[0] {"/": "/y"}  not asked: no app of the entry is installed
                No app: details[0].components[0] {"/": "/x/private/*", "exclude": true} matches, and excludes the \#
                URL. Its comment: not yet

                """#
        )
        #expect(
            excluded.json == #"""
                {"ok":false,"error":"no-app","message":"details[0].components[0] {\"/\": \"/x/private/*\", \#
                \"exclude\": true} matches, and excludes the URL. Its comment: not yet","app":null,\#
                "rule":"details[0].components[0] {\"/\": \"/x/private/*\", \"exclude\": true}",\#
                "why":"details[0].components[0] {\"/\": \"/x/private/*\", \"exclude\": true} matches, and excludes \#
                the URL. Its comment: not yet","url":"https://a.example/x/private/1","host":"a.example",\#
                "source":"file","domain":null,"rules":[{"rule":"details[0].components[0] {\"/\": \"/x/private/*\", \#
                \"exclude\": true}","apps":["T.a","T.b"],"verdict":"excludes","reached":true,"differs_in":[]},\#
                {"rule":"details[0].components[1] {\"/\": \"/x/*\", \"?\": {\"id\": \"??\"}}","apps":["T.a","T.b"],\#
                "verdict":"not-reached","reached":false,"differs_in":[]},\#
                {"rule":"details[1].components[0] {\"/\": \"/y\"}","apps":["T.c"],"verdict":"not-asked",\#
                "reached":false,"differs_in":[]}],"opens_here":null,"here":null}

                """#
        )
        let third = try run("explain", user.scratch.path("two"), "https://a.example/y", "--app", "T.c")
        #expect(
            third.text == #"""
                details[0]  T.a (not installed), T.b (not installed)
                  details[0].components[0] {"/": "/x/private/*", "exclude": true}  not asked: no app of the entry \#
                is installed
                  details[0].components[1] {"/": "/x/*", "?": {"id": "??"}}  not asked: no app of the entry is \#
                installed
                details[1]  T.c
                  details[1].components[0] {"/": "/y"}  matches
                T.c: details[1].components[0] {"/": "/y"} matches.

                """#
        )
        #expect(
            third.json == #"""
                {"ok":true,"error":null,"message":null,"app":"T.c",\#
                "rule":"details[1].components[0] {\"/\": \"/y\"}",\#
                "why":"details[1].components[0] {\"/\": \"/y\"} matches.","url":"https://a.example/y",\#
                "host":"a.example","source":"file","domain":null,"rules":[{"rule":"details[0].components[0] \#
                {\"/\": \"/x/private/*\", \"exclude\": true}","apps":["T.a","T.b"],"verdict":"not-asked",\#
                "reached":false,"differs_in":[]},{"rule":"details[0].components[1] {\"/\": \"/x/*\", \"?\": \#
                {\"id\": \"??\"}}","apps":["T.a","T.b"],"verdict":"not-asked","reached":false,"differs_in":[]},\#
                {"rule":"details[1].components[0] {\"/\": \"/y\"}","apps":["T.c"],"verdict":"matches",\#
                "reached":true,"differs_in":[]}],"opens_here":null,"here":null}

                """#
        )
    }

    @Test func `Check lists the apps, then the findings of the place, the file and the domains`() throws {
        let good = try run("check", user.scratch.path("two"))
        #expect(
            good.text == #"""
                T.a, T.b: 2 rules
                T.c: 1 rule

                """#
        )
        #expect(
            good.json == #"""
                {"ok":true,"error":null,"message":null,"source":"file","domain":null,"details":[{"apps":["T.a",\#
                "T.b"],"rules":2},{"apps":["T.c"],"rules":1}],"findings":[]}

                """#
        )
        let words = ["--app", "T.c", "--url", "https://a.example/q", "--entitlement", "applinks:*.b.example"]
        let place = ["--served-at", "http://a.example/x"]
        let text = try user.nfc.run(["links", "check", user.scratch.path("two")] + words + place)
        #expect(text.status == 1)
        #expect(
            text.output == #"""
                T.a, T.b: 2 rules
                T.c: 1 rule
                AASA017 error: The file is served by http. It has to be served by https.
                AASA016 error: The link does not open T.c: No rule of an installed app matches the URL.
                DOM006 information: "applinks:*.b.example" is not for b.example itself. Add it if it is meant.
                DOM010 error: No applinks entry is for a.example, the host of the link.

                """#
        )
        let json = try user.nfc.run(["links", "check", user.scratch.path("two"), "--json"] + words + place)
        #expect(json.status == 1)
        #expect(
            json.output == #"""
                {"ok":false,"error":"findings","message":"There are 4 findings.","source":"file","domain":null,\#
                "details":[{"apps":["T.a","T.b"],"rules":2},{"apps":["T.c"],"rules":1}],\#
                "findings":[{"id":"AASA017","severity":"error","message":"The file is served by http. It has to be \#
                served by https."},{"id":"AASA016","severity":"error",\#
                "message":"The link does not open T.c: No rule of an installed app matches the URL."},\#
                {"id":"DOM006","severity":"information","message":"\"applinks:*.b.example\" is not for b.example \#
                itself. Add it if it is meant."},{"id":"DOM010","severity":"error",\#
                "message":"No applinks entry is for a.example, the host of the link."}]}

                """#
        )
        let empty = try user.nfc.run("links", "check", "-", "--json")
        #expect(
            empty.output == #"""
                {"ok":false,"error":"bad-file","message":"AASA001: The file is empty.","source":"standard-input",\#
                "domain":null,"details":[],"findings":[{"id":"AASA001","severity":"error",\#
                "message":"The file is empty."}]}

                """#
        )
        #expect(try user.nfc.run("links", "check", "-").error == "Error: AASA001: The file is empty.\n")
        let one = try user.nfc.run("links", "check", user.scratch.path("aasa"), "--app", "T.other", "--json")
        #expect(try one.objects().first?["message"] as? String == "There is 1 finding.")
    }

    @Test func `A file that a site served is named as its, with its age`() throws {
        try user.cache(User.association, asked: 7300)
        let listed = try run("list")
        #expect(
            listed.text == #"""
                good.site.example  93 bytes, the site answered 2 hours ago
                  Reader  TEAM.org.example.reader

                """#
        )
        #expect(
            listed.json == #"""
                {"ok":true,"domain":"good.site.example","source":"site","size":93,"age_s":N,"next_try_s":N,\#
                "error":null,"message":null,"apps":["TEAM.org.example.reader"]}

                """#
        )
        let fetched = try run("fetch")
        #expect(
            fetched.text == #"""
                good.site.example  93 bytes, the site answered 2 hours ago

                """#
        )
        #expect(
            fetched.json == #"""
                {"ok":true,"tried":false,"domain":"good.site.example","source":"site","size":93,"age_s":N,\#
                "next_try_s":N,"error":null,"message":null}

                """#
        )
        let checked = try run("check", "good.site.example")
        #expect(
            checked.text == #"""
                The file of good.site.example, as the site served it.
                TEAM.org.example.reader: 1 rule

                """#
        )
        #expect(
            checked.json == #"""
                {"ok":true,"error":null,"message":null,"source":"site","domain":"good.site.example",\#
                "details":[{"apps":["TEAM.org.example.reader"],"rules":1}],"findings":[]}

                """#
        )
        let found = try run("explain", "good.site.example", "https://good.site.example/x/1")
        #expect(
            found.text == #"""
                The file of good.site.example, as the site served it.
                details[0]  TEAM.org.example.reader
                  details[0].components[0] {"/": "/x/*"}  matches
                TEAM.org.example.reader: details[0].components[0] {"/": "/x/*"} matches.
                On this machine: Open “good.site.example” in Reader

                """#
        )
        #expect(
            found.json == #"""
                {"ok":true,"error":null,"message":null,"app":"TEAM.org.example.reader",\#
                "rule":"details[0].components[0] {\"/\": \"/x/*\"}",\#
                "why":"details[0].components[0] {\"/\": \"/x/*\"} matches.","url":"https://good.site.example/x/1",\#
                "host":"good.site.example","source":"site","domain":"good.site.example",\#
                "rules":[{"rule":"details[0].components[0] {\"/\": \"/x/*\"}","apps":["TEAM.org.example.reader"],\#
                "verdict":"matches","reached":true,"differs_in":[]}],"opens_here":"TEAM.org.example.reader",\#
                "here":"Open “good.site.example” in Reader"}

                """#
        )
    }

    @Test(
        arguments: [
            ("https://sub.good.site.example/x/1", nil),
            (
                "https://xgood.site.example/x/1",
                "The file is of good.site.example. Links of xgood.site.example follow another file."
            ),
            (
                "https://1.2.3.4/x/1",
                "No app can have 1.2.3.4 as an associated domain: it is an address. Write the name of the domain, such as "
                    + "example.org."
            ),
            (
                "https://maps.apple.com/?ll=1,2",
                "Pages of maps.apple.com open in the maps app or the browser, and in no other app."
            ),
        ] as [(String, String?)]
    )
    func `The file of a domain is for its subdomains too, and for no other host`(link: String, why: String?) throws {
        try user.cache(User.association)
        let outcome = try user.nfc.run("links", "explain", "good.site.example", link, "--json")
        #expect(outcome.status == (why == nil ? 0 : 1))
        let object = try #require(try outcome.objects().first)
        #expect(object["app"] as? String == (why == nil ? "TEAM.org.example.reader" : nil))
        #expect(object["message"] as? String == why)
        #expect(object["opens_here"] as? String == "browser")
    }

    @Test func `A site that fails is said with what is left of it`() throws {
        let then = Int64(Date().timeIntervalSince1970) - 7300
        let size = User.association.utf8.count
        let file = "cache/nfc/links/good.site.example.links"
        let failure = "10 timeout: It takes too long."
        try user.write(file, "nfc-links 2 \(then) \(then) \(size) \(failure)\n" + User.association)
        let kept = try run("list")
        #expect(
            kept.text == #"""
                good.site.example  93 bytes, the site answered 2 hours ago; the last try, 2 hours ago, failed: \#
                timeout: It takes too long. The next try is due in 4 hours. To try at once: nfc links fetch \#
                good.site.example --force
                  Reader  TEAM.org.example.reader

                """#
        )
        #expect(
            kept.json == #"""
                {"ok":true,"domain":"good.site.example","source":"site","size":93,"age_s":N,"next_try_s":N,\#
                "error":"timeout","message":"It takes too long.","apps":["TEAM.org.example.reader"]}

                """#
        )
        let old = try run("fetch", status: 1)
        #expect(
            old.text == #"""
                good.site.example  93 bytes, the site answered 2 hours ago; the last try, 2 hours ago, failed: \#
                timeout: It takes too long. The next try is due in 4 hours. To try at once: nfc links fetch \#
                good.site.example --force

                """#
        )
        #expect(
            old.json == #"""
                {"ok":false,"tried":false,"domain":"good.site.example","source":"site","size":93,"age_s":N,\#
                "next_try_s":N,"error":"timeout","message":"It takes too long."}

                """#
        )
        try user.write(file, "nfc-links 2 \(then) - - \(failure)\n")
        let none = try run("list")
        #expect(
            none.text == #"""
                good.site.example  no file; the last try, 2 hours ago, failed: timeout: It takes too long. The \#
                next try is due in 4 hours. To try at once: nfc links fetch good.site.example --force
                  Reader  TEAM.org.example.reader

                """#
        )
        #expect(
            none.json == #"""
                {"ok":true,"domain":"good.site.example","source":null,"size":null,"age_s":null,"next_try_s":N,\#
                "error":"timeout","message":"It takes too long.","apps":["TEAM.org.example.reader"]}

                """#
        )
        let step = " To try again now: nfc links fetch good.site.example --force\n"
        let missing = try user.nfc.run("links", "check", "good.site.example").error
        #expect(missing == "Error: There is no file of good.site.example: timeout: It takes too long.\(step)")
        try user.write(file, "nfc-links 1 \(then) \(then) - \n")
        let nothing = try user.nfc.run("links", "check", "good.site.example").error
        #expect(nothing == "Error: There is no file of good.site.example: The site has none.\(step)")
    }
}
