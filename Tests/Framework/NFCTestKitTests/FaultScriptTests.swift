// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NFCTestKit  // simpler lines are internal

/// The line that replays a run, as a person reads, edits and types it.
struct FaultScriptTests {
    static let kinds = [
        "loss", "silence", "nak", "flip", "slip", "cancel", "busy", "second", "background", "gone", "done", "stop",
        "swap",
    ]

    @Test(
        arguments: kinds.flatMap { kind in ["1", "2", "10", "65536"].map { "\(kind)@\($0)" } } + [
            "tear@1:old", "tear@1:new", "tear@2:mixed#7", "slip@1:1ms", "slip@1:3600000ms", "loss@3+loss@9",
            "loss@3,loss@9", "loss@3,loss@4,loss@5+nak@1", "nak@1+flip@9+silence@4#42", "loss@1,loss@2+nak@7#9",
            "loss@1#18446744073709551615",
        ]
    ) func `valid line: is written as it was read`(line: String) {
        #expect(FaultScript(line).description == line && FaultScript(line).unreadable == nil)
        #expect(FaultScript(line) == FaultScript(line) && FaultScript(line) != FaultScript("tear@77:old"))
    }

    @Test func `line with another spelling: is written the usual way`() {
        // Seed 0 is none, and nothing comes back after a refusal.
        #expect(FaultScript("loss@1#0").description == "loss@1" && FaultScript("loss@1#0") == "loss@1")
        #expect(FaultScript("nak@3,loss@9").description == "nak@3+loss@9")
        #expect(FaultScript("nak@2#7") != "nak@2#8" && FaultScript("loss@3,loss@9") != "loss@3+loss@9")
    }

    /// Lines that can't be parsed, and the part that is named.
    static let invalid: [(String, String)] =
        kinds.flatMap { kind in
            ["\(kind)@0", "\(kind)@-1", "\(kind)@", "\(kind)@1:old", "\(kind)@1@2", "tear@1:\(kind)", kind]
        }.map { ($0, $0) }
        + [
            "old@1", "tear@1", "tear@1:", "tear@0:old", "tear@1:old:old", "tear@3:half", "slip@1:0ms",
            "slip@1:3600001ms", "slip@1:-1ms", "slip@1:1s", "slip@1:300", "slip@1:ms", "slip@1:1ms:1ms", "loss@1:300ms",
            "lost@2", "loss@x", "",
        ].map { ($0, $0) } + [
            ("loss@1+lost@2+nak@3", "lost@2"), ("loss@1+", "loss@1+"), ("loss@1#1#2", "loss@1#1#2"),
            ("loss@1#-1", "loss@1#-1"), ("loss@1,,loss@2", "loss@1,,loss@2"), (",loss@1", ",loss@1"), ("+", "+"),
        ]

    @Test func `invalid line: names the part that can't be parsed`() {
        for (line, part) in Self.invalid { #expect(FaultScript(line).unreadable == part, "\(line)") }
    }

    @Test func `exploration with an invalid line: fails as badReplay, and says how to write one`() async {
        let error = await #expect(throws: FieldError.self) {
            try await explore(.replay("loss@1+lost@2"), near: linkTag) { _ = try await LinkClient.run($0) }
        }
        #expect(error?.code == .badReplay)
        #expect(error?.reason.hasPrefix("\"lost@2\" can't be replayed. ") == true)
        #expect(error?.reason.contains(" Write loss@N, gone@N, slip@N ") == true)
    }

    @Test(
        arguments: [
            ("loss@1", []), ("cancel@1", []), ("gone@2", []), ("tear@1:old", []), ("nak@2#7", ["loss@2#7"]),
            ("silence@3", ["loss@3"]), ("flip@4", ["loss@4"]), ("slip@5:9ms", ["loss@5"]),
            ("done@5", ["loss@5"]), ("swap@5", ["loss@5"]), ("stop@5", []),
            ("nak@2+tear@1:old", ["tear@1:old", "nak@2", "loss@2+tear@1:old"]),
            (
                "busy@1+loss@2+flip@3#4",
                ["loss@2+flip@3#4", "busy@1+flip@3#4", "busy@1+loss@2#4", "busy@1+loss@2+loss@3#4"]
            ),
            // A tag that comes back before nothing has slipped.
            ("loss@3,loss@9", ["loss@9", "slip@3", "loss@3+loss@9"]),
        ] as [(String, [String])]
    ) func `simpler lines: first those with one fault less, then those with a loss in place of a fault`(
        line: String,
        simpler: [String]
    ) {
        #expect(FaultScript(line).simpler.map(\.description) == simpler)
    }
}
