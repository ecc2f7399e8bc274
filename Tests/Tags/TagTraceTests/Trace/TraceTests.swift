// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

/// Exchanges in words, and the table of a trace.
struct TraceTests {
    @Test(arguments: try Transcript.parts(of: "words.txt"))
    func `words of an exchange: those of words.txt`(transcript: Transcript) {
        let meanings = Trace(transcript.entries).lines.map(\.meaning)
        #expect(meanings.count == transcript.lines.count)
        for (line, meaning) in zip(transcript.lines, meanings) { #expect(meaning == line.meaning, "\(line)") }
    }

    @Test func `description of an exchange: not empty for any random bytes`() {
        let heads: [UInt8] = [0x26, 0xE0, 0x02, 0x93, 0x05, 0x1D, 0x06, 0x22, 0x00, 0x90, 0xC2, 0x12]
        for medium in Technology.allCases.map(Trace.Medium.frames) + [.commands] {
            var words = ExchangeInterpreter()
            for _ in 0..<1000 {
                var bytes = (0..<Int.random(in: 0..<24)).map { _ in UInt8.random(in: 0...255) }
                if !bytes.isEmpty, Bool.random() { bytes[0] = heads.randomElement() ?? 0 }
                let checksum = [Frame.Checksum.automatic, .crcB, .none].randomElement() ?? .none
                #expect(!words.meaning(of: Frame(bytes, checksum: checksum), over: medium).isEmpty)
                #expect(!words.meaning(ofAnswer: Frame(bytes.reversed())).isEmpty)
            }
        }
    }

    @Test func `link error: described in words in the place of the answer`() {
        let words: [(LinkError.Code, String)] = [
            (.timeout, "no answer"), (.tagRemoved, "no answer: the tag left"), (.transmission, "no answer: damaged"),
            (.frameTooLong, "no answer: too long"), (.cancelled, "no answer: cancelled"),
        ]
        for (code, text) in words {
            let entry = Self.entry(.commands, Frame([0x60]), .failure(LinkError(code, "a reason")))
            let line = Trace([entry]).lines[1]
            #expect(line.meaning == text && line.frame == nil && line.direction == .answer)
        }
    }

    // MARK: The table

    private static func entry(
        _ medium: Trace.Medium,
        _ request: Frame,
        _ answer: Result<Frame, LinkError>?,
        at time: Duration? = nil,
        for duration: Duration? = nil
    ) -> Trace.Entry {
        Trace.Entry(at: time, .exchange(Trace.Exchange(medium, request: request, answer: answer, duration: duration)))
    }

    private static func rows(_ entries: Trace.Entry...) -> String { Trace(entries).table(showsTimes: false) }

    private static let one = Frame([1])

    @Test func `table of a trace: numbers the exchanges, and has columns for time, medium, bytes and words`() {
        let trace = Trace([
            Trace.Entry(at: .zero, .field(isOn: true)),
            Self.entry(
                .frames(.nfcA),
                Frame(bits: [0x26], validBitsInLastByte: 7),
                .failure(LinkError(.collision, "")),
                at: .microseconds(1500),
                for: .microseconds(86)
            ),
            Self.entry(.frames(.nfcA), Frame([0x30, 4]), .success(Frame([UInt8](0..<18))), at: .microseconds(2000)),
        ])
        #expect(
            trace.description == """
                          0.000                                                      field on
                   1      1.500 A > 26/7                                             REQA
                          1.586 A <                                                  no answer: several tags at once
                   2      2.000 A > 30 04                                            READ 04
                                A < 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f  18 bytes of memory
                                    10 11
                """
        )
        let media = Trace([
            Self.entry(.frames(.nfcA), Frame([]), .success(Self.one)), Self.entry(.frames(.nfcB), Self.one, nil),
            Trace.Entry(.note("a note")), Self.entry(.frames(.nfcF), Self.one, .success(Self.one)),
            Self.entry(.frames(.nfcV), Self.one, .success(Self.one)),
            Self.entry(.commands, Self.one, .success(Self.one)),
            Trace.Entry(.field(isOn: false)),
        ])
        #expect(
            media.table(showsTimes: false) == """
                   1 A > -   nothing
                     A < 01  1 byte
                   2 B > 01  1 byte
                             a note
                   3 F > 01  1 byte
                     F < 01  1 byte
                   4 V > 01  1 byte
                     V < 01  1 byte
                   5 C > 01  1 byte
                     C < 01  no status word
                             field off
                """
        )
        #expect(Trace([]).description.isEmpty)
    }

    @Test func `table of a trace: sixteen bytes in a row, loose bits at the end, words aligned behind the longest row`()
    {
        func rows(_ count: Int, bits: Int = 8) -> [String] {
            let frame = Frame(bits: [UInt8](repeating: 0xAB, count: count), validBitsInLastByte: bits)
            return Self.rows(Self.entry(.frames(.nfcB), frame, nil)).split(separator: "\n").map(String.init)
        }
        let full = [String](repeating: "ab", count: 16).joined(separator: " ")
        #expect(rows(16) == ["   1 B > \(full)  16 bytes"])
        #expect(rows(17) == ["   1 B > \(full)  17 bytes", "         ab"])
        #expect(rows(16, bits: 3) == ["   1 B > \(full)/3  16 bytes"])
        #expect(rows(17, bits: 3) == ["   1 B > \(full)  17 bytes", "         ab/3"])
        let loose = Frame(bits: [1, 2, 3], validBitsInLastByte: 4)
        let short = Self.entry(.frames(.nfcB), Frame([1, 2, 3]), .success(loose))
        #expect(Self.rows(short) == "   1 B > 01 02 03    3 bytes\n     B < 01 02 03/4  3 bytes")
        // A full row with loose bits is the longest that there is.
        let long = Frame(bits: [UInt8](repeating: 0xAB, count: 16), validBitsInLastByte: 3)
        let aligned = Self.rows(Self.entry(.frames(.nfcB), long, .success(Self.one))).split(separator: "\n")
        #expect(aligned.count == 2 && aligned[1].hasPrefix("     B < 01" + String(repeating: " ", count: 49)))
    }

    @Test func `table: stars for a secret, zeros in its frames`() {
        let password = Frame([0x1B, 1, 2, 3, 4])
        let entry = Self.entry(.frames(.nfcA), password, .success(Frame([0xAB, 0xCD])))
        #expect(
            Self.rows(entry) == """
                   1 A > 1b ** ** ** **  PWD AUTH, 4 bytes not shown
                     A < ** **           PACK: the password is right
                """
        )
        #expect(Trace([entry]).lines.map(\.frame?.bytes) == [[0x1B, 0, 0, 0, 0], [0, 0]])
    }

    @Test func `table: times in milliseconds; an answer has a time only if the duration is known`() {
        func times(_ time: Duration?, _ duration: Duration?) -> [String] {
            let trace = Trace([Self.entry(.commands, Self.one, .success(Self.one), at: time, for: duration)])
            return trace.table().split(separator: "\n").map { String($0.dropFirst(4).prefix(11)) }
        }
        let none = String(repeating: " ", count: 11)
        #expect(times(.microseconds(1_234_567), .microseconds(33)) == ["   1234.567", "   1234.600"])
        #expect(times(.microseconds(-1_050), .microseconds(1)) == ["     -1.050", "     -1.049"])
        #expect(times(.microseconds(1), nil) == ["      0.001", none] && times(nil, .microseconds(1)) == [none, none])
        // Rounded to the nearest microsecond.
        let rounded: [(Duration, Int64)] = [
            (.nanoseconds(1_499), 1), (.nanoseconds(1_500), 2), (.nanoseconds(-1_499), -1), (.nanoseconds(-1_500), -2),
            (Duration(secondsComponent: 3, attosecondsComponent: 2_000_000_000_000), 3_000_002),
            (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
        ]
        for (duration, microseconds) in rounded { #expect(duration.wholeMicroseconds == microseconds, "\(duration)") }
    }
}
