// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

@Suite struct TraceTests {
    /// An exchange, and what each side of it says.
    struct Sample: Sendable, CustomTestStringConvertible {
        var medium: Trace.Medium
        var request: Frame
        var answer: Frame?
        var words: [String]
        /// What went before it.
        var before: [Trace.Exchange] = []

        init(_ medium: Trace.Medium, _ request: Frame, _ answer: Frame?, _ words: String...) {
            self.medium = medium
            self.request = request
            self.answer = answer
            self.words = words
        }

        func after(_ exchanges: Trace.Exchange...) -> Sample {
            var sample = self
            sample.before = exchanges
            return sample
        }

        var testDescription: String { words.first ?? "" }
    }

    static let a = Trace.Medium.frames(.nfcA)
    static let opened = Trace.Exchange(a, request: Frame([0xE0, 0x80]), answer: .success(Frame([0x01])))
    static let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    static func bits(_ byte: UInt8, _ count: Int) -> Frame { Frame(bits: [byte], validBitsInLastByte: count) }

    static let samples: [Sample] = [
        Sample(a, bits(0x26, 7), Frame([0x44, 0x00], checksum: .none), "REQA", "ATQA: UID of 7 bytes"),
        Sample(a, bits(0x52, 7), Frame([0x00, 0x0C], checksum: .none), "WUPA", "ATQA: a Type 1 tag"),
        Sample(
            a,
            Frame([0x93, 0x20], checksum: .none),
            Frame([0x88, 4, 1, 2, 0x8F], checksum: .none),
            "ANTICOLLISION, level 1",
            "a UID's part, which goes on"
        ),
        Sample(
            a,
            Frame([0x95, 0x70, 1, 2, 3, 4, 4]),
            Frame([0x20]),
            "SELECT, level 2: 01020304",
            "SAK: selected, ISO-DEP"
        ),
        Sample(a, Frame([0x50, 0x00]), nil, "HLTA: sleep", "no answer"),
        Sample(a, Frame([0x30, 0x04]), Frame([UInt8](repeating: 0, count: 16)), "READ 04", "16 bytes of memory"),
        Sample(
            a,
            Frame([0x3A, 0x04, 0x0F]),
            bits(0x0, 4),
            "FAST READ 04 to 0F",
            "NAK 0: not allowed, or no such place"
        ),
        Sample(a, Frame([0xA2, 0x04, 3, 0, 0xFE, 0]), bits(0xA, 4), "WRITE 04: 0300fe00", "ACK"),
        Sample(a, Frame([0x60]), Frame([0, 4, 4, 2, 1, 0, 0x0F, 3]), "GET VERSION", "version"),
        Sample(
            a,
            Frame([0x60, 0x04]),
            Frame([1, 2, 3, 4], checksum: .none),
            "AUTHENTICATE block 04 with key A",
            "4 bytes"
        ),
        Sample(
            a,
            Frame([0x1B, 1, 2, 3, 4]),
            Frame([0, 0]),
            "PWD AUTH, 4 bytes not shown",
            "PACK: the password is right"
        ),
        Sample(a, Frame([2, 0, 0, 0]), nil, "SECTOR SELECT 02, second packet; silence is a yes", "no answer")
            .after(Trace.Exchange(a, request: Frame([0xC2, 0xFF]), answer: .success(bits(0xA, 4)))),
        Sample(
            a,
            Frame([0x78, 0, 0, 0, 0, 0, 0], checksum: .crcB),
            Frame([0x11, 0x48, 1, 2, 3, 4], checksum: .crcB),
            "RID: identify",
            "header ROM 1148, UID 01020304"
        ),
        Sample(
            a,
            Frame([0x53, 0x08, 0xE1, 1, 2, 3, 4], checksum: .crcB),
            Frame([0x08, 0xE1], checksum: .crcB),
            "WRITE-E 08: e1",
            "1 byte of memory"
        ),
        Sample(
            a,
            Frame([0xE0, 0x80]),
            Frame([0x06, 0x75, 0x77, 0x81, 0x02, 0x80]),
            "RATS: begin ISO-DEP, CID 0",
            "ATS"
        ),
        Sample(
            a,
            Frame([0x02, 0x00, 0xA4, 0x04, 0x00, 7, 0xD2, 0x76, 0, 0, 0x85, 1, 1, 0]),
            Frame([0x02, 0x90, 0x00]),
            "SELECT NDEF application",
            "9000 done"
        ).after(opened),
        Sample(a, Frame([0xA3]), Frame([0xF2, 0x02]), "R(ACK): go on", "S(WTX): 2 times the time is needed").after(
            opened
        ),
        Sample(a, Frame([0xB2]), Frame([0xA2]), "R(NAK): again", "R(ACK): go on").after(opened),
        Sample(a, Frame([0xB2]), Frame([0x02, 0x90, 0x00]), "R(NAK): again", "9000 done").after(opened),
        Sample(a, Frame([0xC2]), Frame([0xC2]), "S(DESELECT): sleep", "1 byte").after(opened),
        Sample(
            a,
            Frame([0x12, 0x00, 0xD6, 0, 0, 0x20, 1]),
            Frame([0xA2]),
            "UPDATE BINARY 0000+20, goes on",
            "R(ACK): go on"
        ).after(opened),
        Sample(.frames(.nfcB), Frame([5, 0, 0]), nil, "REQB, 1 slot", "no answer"),
        Sample(
            .frames(.nfcB),
            Frame([0x1D, 1, 2, 3, 4, 0, 8, 1, 0]),
            Frame([0]),
            "ATTRIB: select 01020304",
            "selected"
        ),
        // A card that was selected is not any more after the next REQB.
        Sample(.frames(.nfcB), Frame([0x15]), nil, "SLOT MARKER 2", "no answer").after(
            Trace.Exchange(
                .frames(.nfcB),
                request: Frame([0x1D, 1, 2, 3, 4, 0, 8, 1, 0]),
                answer: .success(Frame([0]))
            ),
            Trace.Exchange(.frames(.nfcB), request: Frame([5, 0, 1]), answer: .failure(LinkError(.timeout, "")))
        ),
        Sample(
            .frames(.nfcF),
            Frame([6, 0, 0x12, 0xFC, 0, 0]),
            Frame([18, 1] + idm + idm),
            "POLLING for system 12FC (NDEF), 1 slot",
            "IDm 0102030405060708"
        ),
        Sample(
            .frames(.nfcF),
            Frame([18, 6] + idm + [1, 0x0B, 0, 2, 0x80, 0, 0x80, 1]),
            Frame([45, 7] + idm + [0, 0, 2] + [UInt8](repeating: 0, count: 32)),
            "READ WITHOUT ENCRYPTION of 000B, blocks 0 to 1",
            "2 blocks"
        ),
        Sample(
            .frames(.nfcF),
            Frame([32, 8] + idm + [1, 9, 0, 1, 0x80, 5] + [UInt8](repeating: 0, count: 16)),
            Frame([12, 9] + idm + [1, 0xA8]),
            "WRITE WITHOUT ENCRYPTION of 0009, block 5",
            "status 01a8: no such block"
        ),
        Sample(
            .frames(.nfcV),
            Frame([0x26, 1, 0]),
            Frame([0, 0, 8, 7, 6, 5, 4, 3, 4, 0xE0]),
            "INVENTORY, 1 slot",
            "UID e004030405060708"
        ),
        Sample(
            .frames(.nfcV),
            Frame([0x22, 0x20, 8, 7, 6, 5, 4, 3, 4, 0xE0, 5]),
            Frame([1, 0x10]),
            "READ SINGLE BLOCK 05, to e004030405060708",
            "error 10: no such block"
        ),
        Sample(
            .frames(.nfcV),
            Frame([2, 0x23, 0, 3]),
            Frame([0] + [UInt8](repeating: 1, count: 16)),
            "READ MULTIPLE BLOCKS 00 to 03",
            "16 bytes"
        ),
        Sample(
            .commands,
            Frame([0, 0xB0, 0, 0, 0x0F]),
            Frame([1, 2, 0x90, 0]),
            "READ BINARY 0000+0F",
            "2 bytes, 9000 done"
        ),
        Sample(
            .commands,
            Frame([0, 0xA4, 0, 0x0C, 2, 0xE1, 3]),
            Frame([0x6A, 0x82]),
            "SELECT capability container E103",
            "6a82 not found"
        ),
        Sample(
            .commands,
            Frame([0x0C, 0xA4, 2, 0x0C, 2, 1, 1]),
            Frame([0x69, 0x88]),
            "SELECT file 0101, secured",
            "6988 secure messaging is wrong"
        ),
        Sample(.commands, Frame([0, 0x20, 0, 0x81, 0]), Frame([0x63, 0xC2]), "VERIFY", "63c2 2 tries left"),
        Sample(
            .commands,
            Frame([0x90, 0x5A, 0, 0, 3, 0x56, 0x34, 0x12, 0]),
            Frame([0x91, 0xA0]),
            "SELECT APPLICATION 123456",
            "91a0 no such application"
        ),
        Sample(.commands, Frame([0x60]), Frame([0xAF, 4, 1, 1]), "GET VERSION", "3 bytes, more follows"),
        Sample(
            .commands,
            Frame([0xFF, 0xCA, 0, 0, 0]),
            Frame([1, 2, 3, 4, 0x90, 0]),
            "reader: GET DATA, UID",
            "4 bytes, 9000 done"
        ),
    ]

    @Test(arguments: samples) func `An exchange is said in words`(sample: Sample) {
        let failure = LinkError(.timeout, "")
        let exchange = Trace.Exchange(
            sample.medium,
            request: sample.request,
            answer: sample.answer.map { .success($0) } ?? .failure(failure)
        )
        let trace = Trace((sample.before + [exchange]).map { Trace.Entry(.exchange($0)) })
        #expect(trace.lines.suffix(2).map(\.meaning) == sample.words)
    }

    @Test func `A command in several blocks is one command, and so is its answer`() {
        var words = ExchangeInterpreter()
        _ = words.meaning(of: Frame([0xE0, 0x80]), over: Self.a)
        _ = words.meaning(ofAnswer: Frame([0x01]))
        #expect(
            words.meaning(of: Frame([0x12, 0, 0xD6, 0, 4, 9, 1]), over: Self.a) == "UPDATE BINARY 0004+09, goes on"
        )
        _ = words.meaning(ofAnswer: Frame([0xA2]))
        #expect(words.meaning(of: Frame([0x03, 2, 3]), over: Self.a) == "2 bytes more")
        #expect(words.meaning(ofAnswer: Frame([0x13, 5, 6, 7])) == "3 bytes, goes on")
        #expect(words.meaning(of: Frame([0xA2]), over: Self.a) == "R(ACK): go on")
        #expect(words.meaning(ofAnswer: Frame([0x02, 8, 0x90, 0])) == "4 bytes, 9000 done")
    }

    @Test func `What broke off is no part of what comes next: an answer, and a command whose card was woken`() {
        var words = ExchangeInterpreter()
        _ = words.meaning(of: Frame([0xE0, 0x80]), over: Self.a)
        _ = words.meaning(ofAnswer: Frame([0x01]))
        let read: [UInt8] = [0, 0xB0, 0, 0, 2]
        _ = words.meaning(of: Frame([0x02] + read), over: Self.a)
        #expect(words.meaning(ofAnswer: Frame([0x12, 1, 2])) == "2 bytes, goes on")
        #expect(words.meaning(of: Frame([0x03] + read), over: Self.a) == "READ BINARY 0000+02")
        #expect(words.meaning(ofAnswer: Frame([0x03, 7, 0x90, 0])) == "1 byte, 9000 done")
        #expect(
            words.meaning(of: Frame([0x12, 0, 0xD6, 0, 4, 9, 1]), over: Self.a) == "UPDATE BINARY 0004+09, goes on"
        )
        #expect(words.meaning(of: Self.bits(0x52, 7), over: Self.a) == "WUPA")
        _ = words.meaning(of: Frame([0xE0, 0x80]), over: Self.a)
        _ = words.meaning(ofAnswer: Frame([0x01]))
        #expect(words.meaning(of: Frame([0x02] + read), over: Self.a) == "READ BINARY 0000+02")
    }

    @Test func `The number of a sector comes only after the tag has acknowledged the first packet`() {
        for (answer, isNumber) in [(0xA, true), (0x0, false)] as [(UInt8, Bool)] {
            var words = ExchangeInterpreter()
            _ = words.meaning(of: Frame([0xC2, 0xFF]), over: Self.a)
            _ = words.meaning(ofAnswer: Self.bits(answer, 4))
            let next = words.meaning(of: Frame([0x30, 4]), over: Self.a)
            #expect(next == (isNumber ? "SECTOR SELECT 30, second packet; silence is a yes" : "READ 04"))
        }
    }

    @Test func `A trace is a table with a column for each thing`() {
        let long = [UInt8](0..<18)
        let trace = Trace([
            Trace.Entry(at: .zero, .field(isOn: true)),
            Trace.Entry(
                at: .microseconds(1500),
                .exchange(
                    Trace.Exchange(
                        Self.a,
                        request: Self.bits(0x26, 7),
                        answer: .failure(LinkError(.collision, "")),
                        duration: .microseconds(86)
                    )
                )
            ),
            Trace.Entry(
                at: .microseconds(2000),
                .exchange(Trace.Exchange(Self.a, request: Frame([0x30, 4]), answer: .success(Frame(long))))
            ),
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
        #expect(!trace.table(showsTimes: false).contains("1.500"))
        #expect(trace == Trace(trace.entries))
    }

    @Test func `Anything at all is said in words`() {
        var generator = SystemRandomNumberGenerator()
        for medium in Technology.allCases.map(Trace.Medium.frames) + [.commands] {
            var words = ExchangeInterpreter()
            for _ in 0..<3000 {
                let heads: [UInt8] = [0x26, 0xE0, 0x02, 0x93, 0x05, 0x1D, 0x06, 0x22, 0x00, 0x90, 0xC2, 0x12]
                var bytes = (0..<Int.random(in: 0..<24, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                if !bytes.isEmpty, Bool.random() { bytes[0] = heads.randomElement() ?? 0 }
                let checksum = [Frame.Checksum.automatic, .crcB, .none].randomElement() ?? .none
                #expect(!words.meaning(of: Frame(bytes, checksum: checksum), over: medium).isEmpty)
                #expect(!words.meaning(ofAnswer: Frame(bytes.reversed())).isEmpty)
            }
        }
    }
}
