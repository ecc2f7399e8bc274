// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import PN532Driver

/// Checks the chip's status bytes and time-outs.
struct StatusTests {
    @Test(
        "Status bytes are errors of links (PN532 user manual, 7.1)",
        arguments: [
            (0x01, LinkError.Code.timeout), (0x02, .transmission), (0x03, .transmission), (0x04, .transmission),
            (0x05, .transmission), (0x06, .collision), (0x07, .frameTooLong), (0x09, .frameTooLong), (0x0A, .timeout),
            (0x0B, .transmission), (0x0D, .readerUnavailable), (0x0E, .frameTooLong), (0x10, .unsupported),
            (0x12, .unsupported), (0x13, .transmission), (0x14, .unsupported), (0x23, .transmission),
            (0x25, .unsupported), (0x26, .unsupported), (0x27, .tagRemoved), (0x29, .tagRemoved), (0x2A, .tagRemoved),
            (0x2B, .tagRemoved), (0x2D, .readerUnavailable), (0x3E, .transmission),
        ] as [(UInt8, LinkError.Code)]
    )
    func codes(byte: UInt8, code: LinkError.Code) {
        #expect(PN532Status(byte: byte).error?.code == code)
        #expect(PN532Status(byte: byte | 0x40).error?.code == code)
    }

    @Test("Bit 6 says that more follows")
    func more() {
        #expect(PN532Status(byte: 0x40).error == nil)
        #expect(PN532Status(byte: 0x40).hasMore)
        #expect(!PN532Status(byte: 0x00).hasMore)
    }

    @Test("Time-outs are never shorter than what is wanted")
    func timeouts() {
        #expect(PN532Chip.timeoutIndex(.microseconds(1)) == 1)
        #expect(PN532Chip.timeoutIndex(.microseconds(100)) == 1)
        #expect(PN532Chip.timeoutIndex(.microseconds(101)) == 2)
        #expect(PN532Chip.timeoutIndex(.milliseconds(5)) == 7)
        #expect(PN532Chip.timeoutIndex(.milliseconds(3276)) == 16)
        // Longer than the chip can wait: the host does.
        #expect(PN532Chip.timeoutIndex(.milliseconds(4949)) == 0)
    }

    @Test("A status that is no success is named by its two digits where people may look it up")
    func names() {
        for (code, text): (UInt8, String) in [(0x0B, "(status 0B)"), (0x27, "(status 27)"), (0x3E, "(status 3E)")] {
            #expect(PN532Status(byte: code | 0xC0).error?.reason.contains(text) == true)
        }
        #expect(PN532Status(byte: 0x80).error == nil && PN532Status(byte: 0xC0).hasMore)
        #expect(PN532Status(byte: 0xE9).code == 0x29)
    }

    @Test("A status that the manual does not list is a damaged answer, and none of the tag's or the reader's leaving")
    func unknown() {
        let known: Set<UInt8> = [
            0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x09, 0x0A, 0x0B, 0x0D, 0x0E, 0x10, 0x12, 0x13, 0x14, 0x23,
            0x25, 0x26, 0x27, 0x29, 0x2A, 0x2B, 0x2D,
        ]
        for byte in UInt8.min...UInt8.max where !known.contains(byte & 0x3F) {
            #expect(PN532Status(byte: byte).error?.code == .transmission, "\(byte)")
        }
    }
}
