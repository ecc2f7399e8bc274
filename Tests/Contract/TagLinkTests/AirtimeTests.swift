// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing

@Suite struct `Time on the air` {
    @Test func `is counted in carrier periods, and microseconds are rounded up to them`() {
        #expect(Airtime.microseconds(0).carrierPeriods == 0)
        #expect(Airtime.microseconds(1).carrierPeriods == 14)
        #expect(Airtime.microseconds(25).carrierPeriods == 339)
        #expect(Airtime.microseconds(100).carrierPeriods == 1356)
        #expect(Airtime.microseconds(101).carrierPeriods == 1370)
        #expect(Airtime.milliseconds(3).carrierPeriods == 40680)
    }

    @Test func `is reported in the nearest microsecond and nanosecond`() {
        // A carrier period is 73.746 ns; 6.78 of them are half a microsecond.
        #expect(Airtime(carrierPeriods: 6).microseconds == 0)
        #expect(Airtime(carrierPeriods: 7).microseconds == 1)
        #expect(Airtime(carrierPeriods: 20).microseconds == 1)
        #expect(Airtime(carrierPeriods: 21).microseconds == 2)
        #expect(Airtime(carrierPeriods: 1).duration == .nanoseconds(74))
        #expect(Airtime(carrierPeriods: 2).duration == .nanoseconds(147))
        #expect(Airtime.milliseconds(5).duration == .milliseconds(5))
    }

    @Test func `is a duration after years too`() {
        let second = Airtime.milliseconds(1000)
        for days in [79, 36_525] {
            let time = second * (days * 86_400) + Airtime(carrierPeriods: 2)
            #expect(time.duration == Duration.seconds(days * 86_400) + .nanoseconds(147))
        }
    }

    @Test func `is added, subtracted, multiplied and compared`() {
        let (short, long) = (Airtime(carrierPeriods: 128), Airtime(carrierPeriods: 512))
        #expect((short + long).carrierPeriods == 640)
        #expect((long - short).carrierPeriods == 384)
        #expect((short * 3).carrierPeriods == 384)
        #expect(short < long && !(long < short) && !(short < short))
        #expect(max(short, long) == long)
        #expect(short + .zero == short)
    }
}

@Suite struct `Statistics of a link` {
    private let first = LinkStatistics(
        exchanges: 7,
        bytesOnAir: 50,
        airtime: .milliseconds(9),
        tagWorkTime: .milliseconds(4)
    )
    private let second = LinkStatistics(
        exchanges: 2,
        bytesOnAir: 11,
        airtime: .milliseconds(1),
        tagWorkTime: .milliseconds(3)
    )

    @Test func `of two are added and subtracted, each number by itself`() {
        let sum = first + second
        #expect(sum.exchanges == 9 && sum.bytesOnAir == 61)
        #expect(sum.airtime == .milliseconds(10) && sum.tagWorkTime == .milliseconds(7))
        let difference = first - second
        #expect(difference.exchanges == 5 && difference.bytesOnAir == 39)
        #expect(difference.airtime == .milliseconds(8) && difference.tagWorkTime == .milliseconds(1))
        #expect(first + .zero == first && first - first == .zero)
    }

    @Test func `count the tag's own work only where it answers`() {
        var statistics = LinkStatistics()
        let timing = FrameTiming(.nfcA)
        statistics.count(
            request: Frame([0x60]),
            response: Frame([0]),
            timing: timing,
            timeout: .zero,
            tagWorkTime: .milliseconds(2)
        )
        statistics.count(
            request: Frame([0x60]),
            response: nil,
            timing: timing,
            timeout: .zero,
            tagWorkTime: .milliseconds(2)
        )
        #expect(statistics.tagWorkTime == .milliseconds(2))
        #expect(statistics.exchanges == 2)
        #expect(statistics.bytesOnAir == 3 + 3 + 3)
    }
}

@Suite struct `Frames of any kind` {
    @Test func `have their checksum on the air, and loose bits count`() {
        #expect(Frame([1, 2, 3]).byteCountOnAir == 5)
        #expect(Frame([1, 2, 3], checksum: .crcB).byteCountOnAir == 5)
        #expect(Frame([1, 2, 3], checksum: .none).byteCountOnAir == 3)
        #expect(Frame([]).bitCount == 0)
        #expect(Frame([1, 2]).bitCount == 16)
        #expect(Frame(bits: [0x26], validBitsInLastByte: 7).bitCount == 7)
        #expect(Frame(bits: [0x93, 0x21, 0x01], validBitsInLastByte: 1).bitCount == 17)
        #expect(Frame(bits: [0x26], validBitsInLastByte: 7).checksum == .none)
    }

    @Test func `of four bits are an acknowledgement`() {
        #expect(Frame(bits: [0xFA], validBitsInLastByte: 4).nibble == 0x0A)
        #expect(Frame(bits: [0x0A], validBitsInLastByte: 5).nibble == nil)
        #expect(Frame(bits: [0x0A, 0x0A], validBitsInLastByte: 4).nibble == nil)
        #expect(Frame([0x0A]).nibble == nil)
    }

    @Test(.ownThreads) func `of no bit and of nine bits are a caller's mistake`() async {
        await #expect(processExitsWith: .failure) { _ = Frame(bits: [1], validBitsInLastByte: 0) }
        await #expect(processExitsWith: .failure) { _ = Frame(bits: [1], validBitsInLastByte: 9) }
    }

    @Test func `have the checksum of their technology, in its order`() {
        #expect(Technology.nfcA.checksum([0x12, 0x34]) == [0x26, 0xCF])
        #expect(Technology.nfcB.checksum([0x0F, 0xAA, 0xFF]) == [0xFC, 0xD1])
        #expect(Technology.nfcV.checksum([0x0F, 0xAA, 0xFF]) == [0xFC, 0xD1])
        #expect(Technology.nfcF.checksum(Array("123456789".utf8)) == [0x31, 0xC3])
    }

    @Test func `show zeros in place of what is concealed`() {
        let frame = Frame([1, 2, 3, 4, 5], checksum: .crcB)
        #expect(frame.concealing([]) == frame)
        #expect(frame.concealing([1..<3, 4..<9]) == Frame([1, 0, 0, 4, 0], checksum: .crcB))
    }
}
