// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

@Suite struct `The table of a trace` {
    private static func entry(
        _ medium: Trace.Medium,
        _ request: Frame,
        _ answer: Frame?,
        at time: Duration? = nil,
        for duration: Duration? = nil
    ) -> Trace.Entry {
        let exchange = Trace.Exchange(medium, request: request, answer: answer.map { .success($0) }, duration: duration)
        return Trace.Entry(at: time, .exchange(exchange))
    }

    @Test func `has a letter for each medium and a number for each exchange`() {
        let trace = Trace([
            Self.entry(.frames(.nfcA), Frame([]), Frame([1])), Self.entry(.frames(.nfcB), Frame([1]), nil),
            Trace.Entry(.note("a note")), Self.entry(.frames(.nfcF), Frame([1]), Frame([1])),
            Self.entry(.frames(.nfcV), Frame([1]), Frame([1])), Self.entry(.commands, Frame([1]), Frame([1])),
            Trace.Entry(.field(isOn: false)),
        ])
        #expect(
            trace.table(showsTimes: false) == """
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
        #expect(trace.exchanges.map(\.medium) == Technology.allCases.map { .frames($0) } + [.commands])
    }

    @Test func `has no room for bytes where there are none, and no row where there is nothing`() {
        let rows = Trace([Trace.Entry(.note("a note"))]).table(showsTimes: false)
        #expect(rows == String(repeating: " ", count: 11) + "a note")
        #expect(Trace([]).description.isEmpty)
    }

    @Test func `puts sixteen bytes in a row, and loose bits behind the last`() {
        func rows(_ count: Int, bits: Int = 8) -> [String] {
            let frame = Frame(bits: [UInt8](repeating: 0xAB, count: count), validBitsInLastByte: bits)
            let table = Trace([Self.entry(.frames(.nfcB), frame, nil)]).table(showsTimes: false)
            return table.split(separator: "\n").map(String.init)
        }
        let full = [String](repeating: "ab", count: 16).joined(separator: " ")
        #expect(rows(16) == ["   1 B > \(full)  16 bytes"])
        #expect(rows(17) == ["   1 B > \(full)  17 bytes", "         ab"])
        #expect(rows(16, bits: 3) == ["   1 B > \(full)/3  16 bytes"])
        #expect(rows(17, bits: 3) == ["   1 B > \(full)  17 bytes", "         ab/3"])
        #expect(rows(33).count == 3)
    }

    @Test func `aligns the words behind the longest row, and a line by itself has room for sixteen bytes`() throws {
        let trace = Trace([
            Self.entry(.frames(.nfcB), Frame([1, 2, 3]), Frame(bits: [1, 2, 3], validBitsInLastByte: 4))
        ])
        #expect(
            trace.table(showsTimes: false) == """
                   1 B > 01 02 03    3 bytes
                     B < 01 02 03/4  3 bytes
                """
        )
        // A full row with loose bits is the longest that there is.
        let full = Frame(bits: [UInt8](repeating: 0xAB, count: 16), validBitsInLastByte: 3)
        let rows = Trace([Self.entry(.frames(.nfcB), full, Frame([1]))]).table(showsTimes: false).split(separator: "\n")
        #expect(rows.count == 2 && rows[1].hasPrefix("     B < 01" + String(repeating: " ", count: 49)))
        let line = try #require(trace.lines.first)
        #expect(line.text(showsTime: false) == "   1 B > 01 02 03" + String(repeating: " ", count: 39) + "  3 bytes")
        #expect(line.text(showsTime: false, widthOfBytes: 0) == "   1 B > 01 02 03  3 bytes")
    }

    @Test func `shows stars for a secret`() {
        let trace = Trace([Self.entry(.frames(.nfcA), Frame([0x1B, 1, 2, 3, 4]), Frame([0xAB, 0xCD]))])
        #expect(
            trace.table(showsTimes: false) == """
                   1 A > 1b ** ** ** **  PWD AUTH, 4 bytes not shown
                     A < ** **           PACK: the password is right
                """
        )
        #expect(trace.lines.map(\.frame?.bytes) == [[0x1B, 0, 0, 0, 0], [0, 0]])
        let failure = Result<Frame, LinkError>.failure(LinkError(.timeout, ""))
        let request = Trace.Exchange(.frames(.nfcA), request: Frame([0x1B, 1, 2, 3, 4]), answer: failure)
        #expect(Trace([Trace.Entry(.exchange(request))]).lines.map(\.concealed) == [[1..<5], []])
    }

    @Test func `shows times in milliseconds, and the answer's when its duration is known`() {
        func times(_ time: Duration?, _ duration: Duration?) -> [String] {
            let trace = Trace([Self.entry(.commands, Frame([1]), Frame([1]), at: time, for: duration)])
            return trace.table().split(separator: "\n").map { String($0.dropFirst(4).prefix(11)) }
        }
        #expect(times(.microseconds(1_234_567), .microseconds(33)) == ["   1234.567", "   1234.600"])
        #expect(times(.microseconds(7), .microseconds(3)) == ["      0.007", "      0.010"])
        #expect(times(.microseconds(-1_050), .microseconds(1)) == ["     -1.050", "     -1.049"])
        #expect(times(.microseconds(1), nil) == ["      0.001", "           "])
        #expect(times(nil, .microseconds(1)) == ["           ", "           "])
    }

    @Test func `rounds to the nearest microsecond, and takes any duration`() {
        #expect(Duration.nanoseconds(1_499).wholeMicroseconds == 1)
        #expect(Duration.nanoseconds(1_500).wholeMicroseconds == 2)
        #expect(Duration.nanoseconds(-1_499).wholeMicroseconds == -1)
        #expect(Duration.nanoseconds(-1_500).wholeMicroseconds == -2)
        #expect(Duration(secondsComponent: 3, attosecondsComponent: 2_000_000_000_000).wholeMicroseconds == 3_000_002)
        #expect(Duration.seconds(Int64.max).wholeMicroseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeMicroseconds == .min)
    }
}
