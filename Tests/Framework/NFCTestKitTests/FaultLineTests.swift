// SPDX-License-Identifier: Apache-2.0
import Dispatch
import NFCTestKit
import Testing

/// The line that replays a run, as a person reads, edits and types it.
@Suite(.timeLimit(.minutes(10))) struct `A line of faults` {
    /// What is said about a line; nil when it can be read.
    private static func complaint(about line: String) async -> String? {
        let reason = await StrangersReason.of {
            try await explore(.replay(FaultScript(line)), near: "NTAG213", invariants: []) { field in
                _ = try? await field.completion("read") { LinkReader(queue: .main).begin($0) }
            }
        }
        return reason.contains(" Write loss@N, gone@N, slip@N ") ? reason : nil
    }

    @Test(arguments: [
        "loss", "silence", "nak", "flip", "slip", "cancel", "busy", "second", "background", "gone",
    ]) func `Each kind has a place from one on, and nothing behind it`(kind: String) async {
        for place in ["1", "2", "10", "65536"] {
            #expect(FaultScript("\(kind)@\(place)").description == "\(kind)@\(place)")
        }
        for line in ["\(kind)@0", "\(kind)@-1", "\(kind)@", "\(kind)@1:old", "\(kind)@1@2", "tear@1:\(kind)"] {
            #expect(await Self.complaint(about: line) != nil, "\(line)")
        }
    }

    @Test(arguments: ["old", "new", "mixed"]) func `A tear says what is left, and is no kind of its own`(rest: String)
        async
    {
        #expect(FaultScript("tear@1:\(rest)").description == "tear@1:\(rest)")
        for line in ["\(rest)@1", "tear@1", "tear@1:", "tear@0:\(rest)", "tear@1:\(rest):\(rest)", "loss@1:\(rest)"] {
            #expect(await Self.complaint(about: line) != nil, "\(line)")
        }
    }

    @Test func `A slip lasts from a millisecond to an hour`() async {
        for line in ["slip@1:1ms", "slip@1:3600000ms", "slip@9:2ms"] {
            #expect(FaultScript(line).description == line)
        }
        for line in ["slip@1:0ms", "slip@1:3600001ms", "slip@1:-1ms", "slip@1:1s", "slip@1:1ms:1ms"] {
            #expect(await Self.complaint(about: line) != nil, "\(line)")
        }
    }

    @Test func `What can't be read is named, and not what can`() async {
        #expect(await Self.complaint(about: "loss@1+lost@2+nak@3")?.hasPrefix("\"lost@2\" replays nothing.") == true)
        #expect(await Self.complaint(about: "loss@1+")?.hasPrefix("\"loss@1+\" replays nothing.") == true)
        #expect(await Self.complaint(about: "loss@1#1#2")?.hasPrefix("\"loss@1#1#2\" replays nothing.") == true)
        #expect(await Self.complaint(about: "loss@1#-1")?.hasPrefix("\"loss@1#-1\" replays nothing.") == true)
    }

    @Test func `The seed is read and written, and zero is none`() {
        #expect(FaultScript("loss@1#0").description == "loss@1" && FaultScript("loss@1#0") == "loss@1")
        #expect(FaultScript("loss@1#18446744073709551615").description == "loss@1#18446744073709551615")
        #expect(FaultScript("nak@2#7").description == "nak@2#7" && FaultScript("nak@2#7") != "nak@2#8")
        #expect(FaultScript("nak@2") == "nak@2" && FaultScript("nak@2") != "nak@3" && FaultScript("nak@2") != "flip@2")
    }

    @Test func `A tag comes back before a comma, and only a loss has one`() {
        for line in ["loss@3,loss@9", "loss@3,loss@4,loss@5+nak@1"] { #expect(FaultScript(line).description == line) }
        // Nothing comes back after a refusal.
        #expect(FaultScript("nak@3,loss@9").description == "nak@3+loss@9")
        #expect(FaultScript("loss@3,loss@9") != "loss@3+loss@9")
    }
}
