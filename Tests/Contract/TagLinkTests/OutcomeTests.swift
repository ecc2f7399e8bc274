// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

/// What an exchange with a real tag counts, by how it ends.
@Suite("The outcome of an exchange")
struct OutcomeTests {
    private func statistics(_ outcome: Result<Frame, LinkError>) -> LinkStatistics {
        var statistics = LinkStatistics(exchanges: 1, bytesOnAir: 2)
        statistics.count(Frame([0x60]), outcome, .nfcA, timeout: .milliseconds(5))
        return statistics - LinkStatistics(exchanges: 1, bytesOnAir: 2)
    }

    /// 28 elementary time units: one to begin, and 9 for each byte with its parity, two of them the checksum's.
    private static let request = Airtime(carrierPeriods: 28 * 128)

    @Test("counts its bytes and its time, with both delays, where the tag answers")
    func answer() {
        let delays = Airtime(carrierPeriods: 1172 + 1172)
        #expect(
            statistics(.success(Frame([0])))
                == LinkStatistics(exchanges: 1, bytesOnAir: 6, airtime: Self.request + Self.request + delays)
        )
    }

    @Test("counts the request and the answer each in its own direction")
    func directions() {
        // The answer to this request comes later than any other, and has more bytes.
        let request = Frame([0x06, 0x00, 0x12, 0xFC, 0x00, 0x00])
        let answer = Frame([UInt8](repeating: 0, count: 18))
        var counted = LinkStatistics()
        counted.count(request, .success(answer), .nfcF, timeout: .milliseconds(5))
        var expected = LinkStatistics()
        expected.count(request: request, response: answer, timing: FrameTiming(.nfcF), timeout: .milliseconds(5))
        #expect(counted == expected && counted.bytesOnAir == 28)
    }

    @Test("counts the time that was waited only where nothing came")
    func failure() {
        for (code, waited): (LinkError.Code, Airtime) in [
            (.timeout, .milliseconds(5)), (.transmission, .zero), (.collision, .zero),
        ] {
            #expect(
                statistics(.failure(LinkError(code, "")))
                    == LinkStatistics(exchanges: 1, bytesOnAir: 3, airtime: Self.request + waited),
                "\(code)"
            )
        }
    }

    @Test(
        "counts nothing where the reader did not send, or can't know",
        arguments: [
            .tagRemoved, .frameTooLong, .readerUnavailable, .cancelled, .unsupported, .protocolViolation, .inUse,
        ] as [LinkError.Code]
    )
    func nothing(code: LinkError.Code) {
        #expect(statistics(.failure(LinkError(code, ""))) == .zero)
    }

    @Test("The systems of one card have the same IDm but for the high bits of its first byte")
    func systemsOfOneCard() {
        let cases: [([UInt8], [UInt8], Bool)] = [
            ([0x01, 2, 3], [0x01, 2, 3], true), ([0x01, 2, 3], [0xF1, 2, 3], true),
            ([0x01, 2, 3], [0x02, 2, 3], false), ([0x01, 2, 3], [0x11, 2, 4], false),
            ([0x01, 2], [0x11, 2, 3], false), ([], [], true), ([], [1], false), ([1], [], false),
        ]
        for (idm, other, isOne) in cases { #expect(FeliCaIDm.areOfOneCard(idm, other) == isOne, "\(idm) \(other)") }
    }
}
