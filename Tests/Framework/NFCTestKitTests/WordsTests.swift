// SPDX-License-Identifier: Apache-2.0
import NFCTestKit
import TagTrace
import Testing

/// What a person reads when a test fails.
@Suite struct `Words about a test` {
    @Test func `An error is its reason, with the last sixty lines of the trace`() {
        #expect(FieldError(.badTag, "Why.").description == "Why.")
        #expect(FieldError(.badTag, "Why.").trace == nil)
        for (count, isCut) in [(1, false), (30, false), (300, true)] {
            let trace = Trace((0..<count).map { Trace.Entry(at: .seconds($0), .note("note \($0).")) })
            let text = FieldError(.neverEnds, "Why.", trace: trace).description
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let whole = trace.description.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.first == "Why." && lines.contains("…") == isCut)
            let shown = lines.dropFirst(isCut ? 2 : 1)
            #expect(shown.elementsEqual(whole.suffix(60)) && shown.count == min(60, whole.count))
        }
        // As many lines as are shown at most.
        let line = Trace([Trace.Entry(.note("one"))]).description.split(separator: "\n").count
        let exact = Trace((0..<60).map { Trace.Entry(.note("\($0)")) })
        if line == 1 { #expect(!FieldError(.badTag, "", trace: exact).description.contains("…")) }
    }

    @Test func `Errors are equal by code, whatever they say`() {
        let trace = Trace([Trace.Entry(.note("x"))])
        #expect(FieldError(.badTag, "One.") == FieldError(.badTag, "Two.", trace: trace))
        #expect(FieldError(.badTag, "One.") != FieldError(.noButton, "One."))
        let codes: [FieldError.Code] = [
            .neverEnds, .fieldInField, .fieldIsGone, .unknownProduct, .badTag, .badRecording, .noButton, .notVirtual,
            .unknownField, .queueIsBlocked, .badDuration, .badReplay, .badAppFile,
        ]
        #expect(Set(codes).count == 13)
        #expect(Set([FieldError(.badTag, "One."), FieldError(.badTag, "Two."), FieldError(.noButton, "")]).count == 2)
    }

    @Test func `A message is shown by its records`() {
        #expect(TagMessage.empty.description == "no message" && TagMessage.empty.octets.isEmpty)
        #expect(TagMessage.uri("https://example.com").description == "URI https://example.com")
        #expect(TagMessage.text("Grüße").description == "text Grüße")
        #expect(TagMessage(octets: [0xD1, 0x01]).description == "damaged: d1 01")
        // Another type, and two records.
        let two: [UInt8] = [0x94, 0x03, 0x02] + Array("a:b".utf8) + [1, 2] + [0x51, 0x01, 0x02, 0x55, 0x00, 0x61]
        #expect(TagMessage(octets: two).description == "2 bytes of type a:b, URI a")
        // What makes no record is no message, which a tag refuses.
        #expect(TagMessage.text("a", language: String(repeating: "x", count: 64)).octets == [0])
        #expect(TagMessage.text("a", language: "de").octets == [0xD1, 0x01, 0x04, 0x54, 0x02, 0x64, 0x65, 0x61])
    }

    @Test func `Of a long text two hundred characters are shown`() {
        for (count, shown) in [(199, 199), (200, 200), (201, 200), (250, 200)] {
            let text = String((0..<count).map { Character(Unicode.Scalar(UInt8(0x61 + $0 % 26))) })
            let words = String(text.prefix(shown)) + (shown < count ? "…" : "")
            #expect(TagMessage.text(text).description == "text \(words)", "\(count)")
            #expect(TagMessage.uri(text).description == "URI \(words)", "\(count)")
        }
    }

    @Test func `An exploration has the names of its parts`() {
        #expect(Exploration.everyLoss.description == "losses, tears, bad answers")
        #expect(
            Exploration.everything.description
                == "losses, tears, bad answers, slips, cancels, busy, second tags, backgrounds"
        )
        let rest: Exploration = [.lossPairs, .noise(runs: 1), .slips(for: .seconds(2)), .replay("loss@1")]
        #expect(rest.description == "pairs of losses, noise, slips, replay")
        #expect((Exploration.busy + .cancels).description == "busy, cancels")
        #expect((Exploration.badAnswers + .everyLoss).description == "bad answers, losses, tears, bad answers")
        let none: Exploration = []
        #expect(none.description.isEmpty)
    }
}
