// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@Suite struct `Frame timing` {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var technology: Technology
        var request: Frame
        var response: Frame
        /// Microseconds.
        var expected: Int64
        var testDescription: String { name }
    }

    /// Times worked out from ISO/IEC 14443-3, ISO/IEC 15693-3 and NFC Forum Digital.
    static let cases: [Case] = [
        Case(
            name: "READ of a Type 2 tag",
            technology: .nfcA,
            request: Frame([0x30, 0x03]),
            response: Frame([UInt8](repeating: 0, count: 16)),
            expected: 2061
        ),
        Case(
            name: "GET_VERSION",
            technology: .nfcA,
            request: Frame([0x60]),
            response: Frame([UInt8](repeating: 0, count: 8)),
            expected: 1296
        ),
        Case(
            name: "WRITE of a Type 2 tag",
            technology: .nfcA,
            request: Frame([0xA2, 4, 0, 0, 0, 0]),
            response: Frame(bits: [0x0A], validBitsInLastByte: 4),
            expected: 909
        ),
        Case(
            name: "Collided anticollision, with loose bits behind whole bytes",
            technology: .nfcA,
            request: Frame(bits: [0x93, 0x21, 0x01], validBitsInLastByte: 1),
            response: Frame(bits: [0x01, 0x02, 0x03, 0x04, 0x05], validBitsInLastByte: 7),
            expected: 777
        ),
        Case(
            name: "ATTRIB",
            technology: .nfcB,
            request: Frame([0x1D, 1, 2, 3, 4, 0, 8, 1, 0]),
            response: Frame([0x00]),
            expected: 2039
        ),
        Case(
            name: "READ SINGLE BLOCK, not addressed",
            technology: .nfcV,
            request: Frame([0x02, 0x20, 0x00]),
            response: Frame([0, 1, 2, 3, 4]),
            expected: 4670
        ),
        Case(
            name: "Polling of a FeliCa tag",
            technology: .nfcF,
            request: Frame([0x06, 0x00, 0x12, 0xFC, 0x00, 0x00]),
            response: Frame([UInt8](repeating: 0, count: 18)),
            expected: 4275
        ),
        Case(
            name: "CHECK of one FeliCa block",
            technology: .nfcF,
            request: Frame([UInt8](repeating: 0, count: 16)),
            response: Frame([UInt8](repeating: 0, count: 29)),
            expected: 2848
        ),
    ]

    @Test(arguments: cases) func `An exchange takes the time that the standard says`(_ test: Case) {
        var statistics = LinkStatistics()
        statistics.count(
            request: test.request,
            response: test.response,
            timing: FrameTiming(test.technology),
            timeout: .milliseconds(5)
        )
        #expect(abs(statistics.airtime.microseconds - test.expected) <= 1)
        #expect(statistics.exchanges == 1)
        #expect(statistics.bytesOnAir == test.request.byteCountOnAir + test.response.byteCountOnAir)
    }

    @Test("Each delay of NFC-B has its own length, in periods of the carrier")
    func delaysOfNFCB() {
        let timing = FrameTiming(.nfcB)
        #expect(timing.answerDelay.carrierPeriods == 2304 && timing.nextRequestDelay.carrierPeriods == 1792)
        #expect(timing.request(Frame([1])).carrierPeriods == 52 * 128)
        #expect(timing.response(Frame([1])) == timing.request(Frame([1])))
    }

    @Test("The answer to a polling alone comes later, and only over NFC-F")
    func delayOfPolling() {
        let polling = Frame([0x06, 0x00, 0xFF, 0xFF, 0x00, 0x00])
        #expect(FrameTiming(.nfcF).answerDelay(after: polling).carrierPeriods == 32768)
        for other in [Frame([0x06, 0x04, 1, 2, 3, 4]), Frame([0x00, 0x00]), Frame([])] {
            #expect(FrameTiming(.nfcF).answerDelay(after: other).carrierPeriods == 2672)
        }
        #expect(FrameTiming(.nfcA).answerDelay(after: polling).carrierPeriods == 1172)
    }

    @Test func `An exchange without an answer costs the request and the time-out`() {
        var statistics = LinkStatistics()
        statistics.count(
            request: Frame([0x60]),
            response: nil,
            timing: FrameTiming(.nfcA),
            timeout: .milliseconds(5)
        )
        // 28 elementary time units of 128 carrier periods.
        #expect(statistics.airtime == Airtime(carrierPeriods: 28 * 128) + .milliseconds(5))
        #expect(statistics.bytesOnAir == 3)
    }
}
