// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

@Suite struct `What an explanation says` {
    private static let file = #"""
        {"applinks":{"details":[
          {"appIDs":["T.a"],"components":[{"/":"/no","exclude":true},{"/":"/x/*"},{"/":"/x/y"}]},
          {"appIDs":["T.b"],"paths":["NOT /x/z","/x/*"]},
          {"appIDs":["T.a","T.c"],"paths":["*"]}]}}
        """#

    private func explain(_ path: String, _ installed: Set<String>?) throws -> LinkExplanation {
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(Self.file.utf8)))
        return matcher.explain(try LinkURL("https://h.example\(path)"), installed: installed)
    }

    @Test func `Rules behind the one that decides are not reached, in later entries too`() throws {
        let found = try explain("/x/1", nil)
        #expect(found.answer.app == "T.a")
        #expect(
            found.entries.map(\.verdicts) == [
                [.differs([.path]), .matches, .notReached], [.notReached, .notReached], [.notReached],
            ]
        )
    }

    @Test func `An exclusion leaves the URL to other apps, and entries of no installed app are not asked`() throws {
        let excluded = try explain("/no", ["T.a"])
        #expect(excluded.answer.app == nil)
        #expect(
            excluded.entries.map(\.verdicts) == [
                [.excludes, .notReached, .notReached], [.notAsked, .notAsked], [.notReached],
            ]
        )
        let other = try explain("/no", ["T.a", "T.c"])
        #expect(other.answer.app == "T.c")
        #expect(other.entries.last?.installed == ["T.a", "T.c"])
        #expect(other.entries.last?.verdicts == [.matches])
        let later = try explain("/x/z", ["T.b"])
        #expect(later.entries[1].verdicts == [.excludes, .notReached])
    }

    @Test func `Nothing is said of installed apps where none was asked about`() throws {
        let text = #"{"applinks":{"details":[{"appIDs":["T.a"],"paths":["/x"]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let url = try LinkURL("https://h.example/y")
        #expect(matcher.explain(url, installed: nil).answer.why == "No rule of the file matches the URL.")
        #expect(matcher.explain(url, installed: ["T.a"]).answer.why == "No rule of an installed app matches the URL.")
        #expect(matcher.explain(url, installed: ["T.b"]).answer.why == "The file names no app that is installed.")
    }

    @Test func `Every verdict agrees with the answer`() throws {
        let apps: [Set<String>] = [["T.a"], ["T.b"], ["T.c"], ["T.a", "T.b"], ["T.b", "T.c"], ["T.a", "T.c"], []]
        for path in ["/no", "/x/1", "/x/y", "/x/z", "/other", "/", ""] {
            for installed in apps {
                let found = try explain(path, installed)
                let matching = found.entries.filter { $0.verdicts.contains(.matches) }
                #expect(matching.count == (found.answer.app == nil ? 0 : 1))
                #expect(matching.allSatisfy { $0.installed.contains(found.answer.app ?? "") })
            }
        }
    }

    @Test func `An entry that can't be one is named where no entry is for a host`() throws {
        let text = #"{"applinks":{"details":[{"appIDs":["T.a"],"paths":["*"]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        let entries = ["applinks:localhost"]
        let answer = matcher.answer("https://localhost/", domain: "localhost", entries: entries, installed: ["T.a"])
        #expect(answer.app == nil)
        #expect(answer.why.contains("is for the host localhost. ") && answer.why.contains("has no dot"))
    }

    @Test func `The host of a link outside of ASCII is that of its entitlement and of its file`() throws {
        let text = #"{"applinks":{"details":[{"appIDs":["T.a"],"paths":["*"]}]}}"#
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(text.utf8)))
        for (link, domain) in [("B\u{FC}cher", "xn--bcher-kva"), ("xn--bcher-kva", "b\u{FC}cher")] {
            let answer = matcher.answer(
                "https://u@\(link).example:8443/\u{E9}",
                domain: "\(domain).example",
                entries: ["applinks:\(domain).example"],
                installed: ["T.a"]
            )
            #expect(answer.app == "T.a", "\(answer)")
        }
    }
}
