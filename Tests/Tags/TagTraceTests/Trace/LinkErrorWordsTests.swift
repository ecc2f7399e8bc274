// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

@Suite struct `Errors of a link in a trace` {
    static let codes: [(LinkError.Code, String)] = [
        (.timeout, "nothing came in time"),
        (.tagRemoved, "the tag left"),
        (.transmission, "damaged"),
        (.collision, "several tags at once"),
        (.frameTooLong, "too long"),
        (.readerUnavailable, "the reader is not there"),
        (.cancelled, "cancelled"),
        (.unsupported, "the reader can't send it"),
        (.protocolViolation, "against the protocol"),
        (.inUse, "in use by another program"),
    ]

    @Test(arguments: codes) func `are words in a trace`(_ code: LinkError.Code, _ words: String) {
        let error = LinkError(code, "a reason")
        #expect(code.words == words)
        let line = Trace([
            Trace.Entry(.exchange(Trace.Exchange(.commands, request: Frame([0x60]), answer: .failure(error))))
        ]).lines[1]
        #expect(line.meaning == (code == .timeout ? "no answer" : "no answer: \(words)"))
        #expect(line.frame == nil && line.direction == .answer)
    }
}
