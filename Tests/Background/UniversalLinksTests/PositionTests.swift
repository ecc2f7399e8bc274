// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniversalLinks

/// The positions that are printed are those of the file, also after values that are ignored.
@Suite struct `Positions in a file` {
    private func file(_ details: String) throws -> AssociationFile {
        try AssociationFile(parsing: Data(#"{"applinks":{"details":\#(details)}}"#.utf8))
    }

    private func messages(_ details: String) throws -> [String] { try file(details).check().map(\.message) }

    @Test func `The rules after an ignored one keep their positions, and so do those of a later entry`() throws {
        let rules = #"5,{"/":"*"},null,{"/":"/x"}"#
        #expect(
            try messages(#"["none",{"appIDs":["T.a"],"components":[\#(rules)]}]"#) == [
                "details[0] is a text, no object, and is ignored.",
                "details[1].components[0] is a number, no object, and is ignored.",
                "details[1].components[2] is null, no object, and is ignored.",
                "details[1].components[3] is never reached: components[1] matches every URL.",
            ]
        )
        #expect(
            try messages(#"[{"appIDs":["T.a"],"components":[0,{"/":"/$(no)"}]}]"#).last
                == #""/" of details[0].components[1] names the variable "no", which is not defined, so it matches nothing."#
        )
    }

    @Test func `The paths after an ignored one keep their positions`() throws {
        #expect(
            try messages(#"[{"appID":"T.a","paths":[1,"*",2,"/x"]}]"#) == [
                "details[0].paths[0] is a number and is ignored; it has to be a text.",
                "details[0].paths[2] is a number and is ignored; it has to be a text.",
                "details[0].paths[3] is never reached: paths[1] matches every URL.",
            ]
        )
    }

    @Test func `An entry that is never reached is named with the one before it`() throws {
        let all = #"{"appIDs":["T.a"],"components":[{}]}"#
        let one = #"{"appIDs":["T.a"],"components":[{"/":"/x"}]}"#
        #expect(
            try messages("[null,\(all),false,\(one)]").last
                == "details[3] is never reached: a rule of details[1] matches every URL for its apps."
        )
    }

    @Test func `In a dictionary of apps a rule has its app as its position`() throws {
        let details = #"{"T.a":{"paths":["/y"]},"T.b":{"paths":["*","/x"]}}"#
        #expect(try messages(details).last == "details.T.b.paths[1] is never reached: paths[0] matches every URL.")
        let answer = LinkMatcher(try file(details)).answer(try LinkURL("https://h.example/y"), installed: nil)
        #expect(answer.rule == #"details.T.a.paths[0] "/y""#)
    }

    @Test func `An answer names the rule by its position`() throws {
        let matcher = LinkMatcher(try file(#"[0,{"appIDs":["T.a"],"components":[[],{"/":"/x"}]}]"#))
        let answer = matcher.answer(try LinkURL("https://h.example/x"), installed: nil)
        #expect(answer.rule == #"details[1].components[1] {"/": "/x"}"#)
    }

    @Test func `A folder with the name of the file is not its place`() throws {
        let place = "https://h.example/.well-known/apple-app-site-association"
        #expect(try LinkFinding.ofPlace(place + "/").map(\.id) == ["AASA017"])
        #expect(try LinkFinding.ofPlace(place).isEmpty)
    }
}
