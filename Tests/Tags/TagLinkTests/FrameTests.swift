// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing

/// Frames, their checksums and their time on the air.
struct FrameTests {
    private static let polling = Frame([0x06, 0x00, 0x12, 0xFC, 0x00, 0x00])

    private static func zeros(_ count: Int) -> Frame { Frame([UInt8](repeating: 0, count: count)) }
    private static func bits(_ bytes: [UInt8], _ count: Int) -> Frame { Frame(bits: bytes, validBitsInLastByte: count) }

    // MARK: Frames

    @Test func `frame: its bits, and its bytes on the air with the checksum`() {
        let frames: [(Frame, bits: Int, bytesOnAir: Int, nibble: UInt8?)] = [
            (Frame([1, 2, 3]), 24, 5, nil), (Frame([1, 2, 3], checksum: .crcB), 24, 5, nil),
            (Frame([1, 2, 3], checksum: .none), 24, 3, nil), (Frame([0x0A]), 8, 3, nil),
            (Self.bits([0x26], 7), 7, 1, nil),
            (Self.bits([0x93, 0x21, 0x01], 1), 17, 3, nil), (Self.bits([0xFA], 4), 4, 1, 0x0A),
            (Self.bits([0x0A], 5), 5, 1, nil),
            (Self.bits([0x0A, 0x0A], 4), 12, 2, nil),
        ]
        for (frame, count, bytesOnAir, nibble) in frames {
            #expect(frame.bitCount == count && frame.byteCountOnAir == bytesOnAir && frame.nibble == nibble, "\(frame)")
        }
        #expect(Frame([]).bitCount == 0 && Self.bits([0x26], 7).checksum == .none)
        let secret = Frame([1, 2, 3, 4, 5], checksum: .crcB)
        #expect(secret.concealing([]) == secret)
        #expect(secret.concealing([1..<3, 4..<9]) == Frame([1, 0, 0, 4, 0], checksum: .crcB))
    }

    @Test(.ownThreads) func `frame with 0 or 9 valid bits in its last byte: traps`() async {
        await #expect(processExitsWith: .failure) { _ = Frame(bits: [1], validBitsInLastByte: 0) }
        await #expect(processExitsWith: .failure) { _ = Frame(bits: [1], validBitsInLastByte: 9) }
    }

    @Test func `checksums: the examples of ISO/IEC 14443-3 annex B and of CRC-16/XMODEM, in the order of the air`() {
        let text = Array("123456789".utf8)
        #expect(CyclicRedundancyCheck.a([0x00, 0x00]) == 0x1EA0 && CyclicRedundancyCheck.a([0x12, 0x34]) == 0xCF26)
        #expect(CyclicRedundancyCheck.b([0x00, 0x00, 0x00]) == 0xC6CC)
        #expect(CyclicRedundancyCheck.b([0x0F, 0xAA, 0xFF]) == 0xD1FC && CyclicRedundancyCheck.f(text) == 0x31C3)
        #expect(
            Technology.nfcA.checksum([0x12, 0x34]) == [0x26, 0xCF] && Technology.nfcF.checksum(text) == [0x31, 0xC3]
        )
        for technology in [Technology.nfcB, .nfcV] {
            #expect(technology.checksum([0x0F, 0xAA, 0xFF]) == [0xFC, 0xD1])
        }
    }

    // MARK: Time

    @Test func `airtime: microseconds rounded up to carrier periods, and back to the nearest`() {
        let periods: [(Airtime, Int64)] = [
            (.microseconds(0), 0), (.microseconds(1), 14), (.microseconds(25), 339), (.microseconds(100), 1356),
            (.microseconds(101), 1370), (.milliseconds(3), 40680),
        ]
        for (time, count) in periods { #expect(time.carrierPeriods == count) }
        // A carrier period is 73.746 ns; 6.78 of them are half a microsecond.
        for (count, microseconds) in [(6, 0), (7, 1), (20, 1), (21, 2)] as [(Int64, Int64)] {
            #expect(Airtime(carrierPeriods: count).microseconds == microseconds)
        }
        #expect(Airtime(carrierPeriods: 1).duration == .nanoseconds(74))
        #expect(Airtime(carrierPeriods: 2).duration == .nanoseconds(147))
        // After years too.
        for days in [0, 79, 36_525] {
            let time = Airtime.milliseconds(1000) * (days * 86_400) + Airtime(carrierPeriods: 2)
            #expect(time.duration == Duration.seconds(days * 86_400) + .nanoseconds(147))
        }
        let (short, long) = (Airtime(carrierPeriods: 128), Airtime(carrierPeriods: 512))
        #expect((short + long).carrierPeriods == 640 && (long - short).carrierPeriods == 384)
        #expect((short * 3).carrierPeriods == 384 && short + .zero == short)
        #expect(short < long && !(long < short) && !(short < short))
    }

    /// Exchanges with their microseconds, worked out from ISO/IEC 14443-3, ISO/IEC 15693-3 and NFC Forum Digital.
    private static let exchanges: [(name: String, Technology, request: Frame, answer: Frame, microseconds: Int64)] = [
        ("READ of a Type 2 tag", .nfcA, Frame([0x30, 0x03]), zeros(16), 2061),
        ("GET_VERSION", .nfcA, Frame([0x60]), zeros(8), 1296),
        ("WRITE of a Type 2 tag", .nfcA, Frame([0xA2, 4, 0, 0, 0, 0]), bits([0x0A], 4), 909),
        ("Anticollision with loose bits", .nfcA, bits([0x93, 0x21, 0x01], 1), bits([1, 2, 3, 4, 5], 7), 777),
        ("ATTRIB", .nfcB, Frame([0x1D, 1, 2, 3, 4, 0, 8, 1, 0]), Frame([0x00]), 2039),
        ("READ SINGLE BLOCK, not addressed", .nfcV, Frame([0x02, 0x20, 0x00]), zeros(5), 4670),
        ("FeliCa polling", .nfcF, polling, zeros(18), 4275),
        ("CHECK of one FeliCa block", .nfcF, zeros(16), zeros(29), 2848),
    ]

    @Test(arguments: exchanges.indices) func `airtime of an exchange: the time of the standard, within a microsecond`(
        index: Int
    ) {
        let (name, technology, request, answer, microseconds) = Self.exchanges[index]
        var statistics = LinkStatistics()
        statistics.count(request, .success(answer), technology, timeout: .milliseconds(5))
        #expect(abs(statistics.airtime.microseconds - microseconds) <= 1, "\(name)")
        #expect(statistics.exchanges == 1 && statistics.bytesOnAir == request.byteCountOnAir + answer.byteCountOnAir)
        var timed = LinkStatistics()
        timed.count(request: request, response: answer, timing: FrameTiming(technology), timeout: .milliseconds(5))
        #expect(timed == statistics)
    }

    @Test func `frame delays: NFC-B has its own, and the answer to a FeliCa polling comes later than others`() {
        let timing = FrameTiming(.nfcB)
        #expect(timing.answerDelay.carrierPeriods == 2304 && timing.nextRequestDelay.carrierPeriods == 1792)
        #expect(timing.request(Frame([1])).carrierPeriods == 52 * 128)
        #expect(timing.response(Frame([1])) == timing.request(Frame([1])))
        #expect(FrameTiming(.nfcF).answerDelay(after: Self.polling).carrierPeriods == 32768)
        for other in [Frame([0x06, 0x04, 1, 2, 3, 4]), Frame([0x00, 0x00]), Frame([])] {
            #expect(FrameTiming(.nfcF).answerDelay(after: other).carrierPeriods == 2672)
        }
        #expect(FrameTiming(.nfcA).answerDelay(after: Self.polling).carrierPeriods == 1172)
    }

    // MARK: Counts

    @Test func `statistics: each outcome of an exchange counts its frames, bytes and time`() {
        // 28 elementary time units: one to begin, and 9 for each byte with its parity, two of them the checksum's.
        let request = Airtime(carrierPeriods: 28 * 128)
        var outcomes: [(Result<Frame, LinkError>, LinkStatistics)] = [
            (
                .success(Frame([0])),
                LinkStatistics(exchanges: 1, bytesOnAir: 6, airtime: request * 2 + Airtime(carrierPeriods: 2 * 1172))
            )
        ]
        for (code, waited): (LinkError.Code, Airtime) in [
            (.timeout, .milliseconds(5)), (.transmission, .zero), (.collision, .zero),
        ] {
            let counts = LinkStatistics(exchanges: 1, bytesOnAir: 3, airtime: request + waited)
            outcomes.append((.failure(LinkError(code, "")), counts))
        }
        // The reader did not send, or can't know.
        for code: LinkError.Code in [
            .tagRemoved, .frameTooLong, .readerUnavailable, .cancelled, .unsupported, .protocolViolation, .inUse,
        ] { outcomes.append((.failure(LinkError(code, "")), .zero)) }
        for (outcome, counts) in outcomes {
            let before = LinkStatistics(exchanges: 1, bytesOnAir: 2)
            var statistics = before
            statistics.count(Frame([0x60]), outcome, .nfcA, timeout: .milliseconds(5))
            #expect(statistics - before == counts, "\(outcome)")
        }
        // The tag's own work is counted only where it answers.
        var statistics = LinkStatistics()
        for answer in [Frame([0]), nil] {
            statistics.count(
                request: Frame([0x60]),
                response: answer,
                timing: FrameTiming(.nfcA),
                timeout: .zero,
                tagWorkTime: .milliseconds(2)
            )
        }
        #expect(statistics.tagWorkTime == .milliseconds(2) && statistics.exchanges == 2 && statistics.bytesOnAir == 9)
    }

    @Test func `statistics: added and subtracted, each number by itself`() {
        func statistics(_ exchanges: Int, _ bytes: Int, _ airtime: Int64, _ work: Int64) -> LinkStatistics {
            LinkStatistics(
                exchanges: exchanges,
                bytesOnAir: bytes,
                airtime: .milliseconds(airtime),
                tagWorkTime: .milliseconds(work)
            )
        }
        let (first, second) = (statistics(7, 50, 9, 4), statistics(2, 11, 1, 3))
        #expect(first + second == statistics(9, 61, 10, 7) && first - second == statistics(5, 39, 8, 1))
        #expect(first + .zero == first && first - first == .zero)
    }
}
