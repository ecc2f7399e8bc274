// SPDX-License-Identifier: Apache-2.0
import TagLink

/// ISO/IEC 15693 requests through Identiv's Traverse, FF FD (uTrust 3720F reference manual 1.0, 6.3.7.12).
struct TraverseRoute: FrameRoute {
    /// The waiting times of the codes, in microseconds, from code 0 on.
    private static let waitingTimes: [Int64] = [
        500, 1000, 2000, 5000, 10000, 25000, 50000, 75000, 100_000, 250_000, 500_000, 750_000, 1_000_000,
    ]
    private static let standardFrame: UInt8 = 0x01

    func begin(_ connection: CardConnection) throws(LinkError) {
        // READ SINGLE BLOCK of block 0. Any answer, also an error, proves that the request reached the tag.
        let timeout = Airtime.milliseconds(10)
        let answer = try exchange(Frame([0x02, 0x20, 0x00]), timeout: timeout, connection)
        guard let flags = answer.bytes.first, flags & 0xFE == 0 else {
            throw .noWay("The reader", "requests of one's own to this tag")
        }
    }

    func exchange(_ frame: Frame, timeout: Airtime, _ connection: CardConnection) throws(LinkError) -> Frame {
        guard frame.checksum == .automatic, (1...250).contains(frame.bytes.count) else {
            throw .noWay("The reader", "frames without their checksum, or longer than 250 bytes")
        }
        let wanted = timeout.microseconds
        let code = Self.waitingTimes.firstIndex { $0 >= wanted } ?? Self.waitingTimes.count - 1
        let answer = try connection.ask(
            [0xFF, 0xFD, UInt8(code), Self.standardFrame, UInt8(frame.bytes.count)] + frame.bytes + [0x00]
        )
        switch answer.status {
        case 0x9000 where !answer.data.isEmpty: return Frame(answer.data)
        case 0x6D00, 0x6E00, 0x6A81, 0x6881, 0x6B00:
            throw LinkError(.unsupported, "The reader has no Traverse (\(answer.statusText)).")
        default: throw LinkError(.timeout, "The tag did not answer (\(answer.statusText)).")
        }
    }
}
