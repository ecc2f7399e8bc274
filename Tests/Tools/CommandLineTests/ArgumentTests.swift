// SPDX-License-Identifier: Apache-2.0
import TestThreads
import Testing

@testable import nfc

/// What nfc sees in its arguments before they are parsed.
@Suite(.ownThreads) struct `The arguments of nfc` {
    @Test(arguments: [
        (["nfc", "scan", "--json"], true), (["nfc", "--json"], true), (["nfc", "--json", "--", "x"], true),
        (["nfc", "--json=1"], true), (["nfc", "x", "y", "--json=", "z"], true), (["nfc"], false), ([], false),
        (["--json"], false), (["nfc", "--", "--json"], false), (["nfc", "--jsonl"], false),
        (["nfc", "x--json"], false),
        (["nfc", "-json"], false),
    ])
    func `JSON is asked for by its option, before the end of the options`(words: [String], isAsked: Bool) {
        #expect(CommandProcess.wantsJSON(words) == isAsked)
    }

    @Test(arguments: [("$'\\xe9' x", 1), ("scan $'\\xe9'", 2)])
    func `The first and the last argument have to be UTF-8 too`(words: String, number: Int) throws {
        let outcome = try Command.shell("nfc \(words); echo $?", in: "/")
        #expect(outcome.lines == ["2"])
        #expect(outcome.error.hasPrefix("Error: Argument \(number), '"), "\(outcome.error)")
    }
}
