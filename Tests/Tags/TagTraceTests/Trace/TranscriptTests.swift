// SPDX-License-Identifier: Apache-2.0
import TagTrace
import Testing

@Suite struct `Exchanges in words` {
    @Test(arguments: try Transcript.parts(of: "words.txt"))
    func `Each command and each answer of a technology has its words`(_ transcript: Transcript) {
        let meanings = Trace(transcript.entries).lines.map(\.meaning)
        #expect(meanings.count == transcript.lines.count)
        for (line, meaning) in zip(transcript.lines, meanings) {
            #expect(meaning == line.meaning, "\(line)")
        }
    }
}
