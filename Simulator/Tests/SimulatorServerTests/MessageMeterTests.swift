// SPDX-License-Identifier: Apache-2.0
import SimulatorModel
import Testing

@testable import SimulatorServer  // frames are only counted internally

@Suite struct MessageMeterTests {
    /// A masked frame of a client, without its last bytes where `sent` is less than `size`.
    private func frame(_ kind: UInt8, _ size: Int, sent: Int? = nil) -> [UInt8] {
        var bytes = [kind]
        switch size {
        case ..<126: bytes.append(0x80 | UInt8(size))
        case ..<65_536: bytes += [0xFE, UInt8(size >> 8), UInt8(size & 0xFF)]
        default: bytes += [0xFF] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
        }
        return bytes + [1, 2, 3, 4] + [UInt8](repeating: 0x61, count: sent ?? size)
    }

    /// Whether all of it passes.
    private func passes(_ parts: [[UInt8]]) -> Bool {
        var meter = MessageMeter()
        return parts.allSatisfy { meter.takes($0) }
    }

    @Test("WebSocket messages up to the size limit pass, whole, in fragments or byte by byte")
    func lengths() {
        let sizes = [0, 1, 125, 126, 65_535, 65_536, Limits.pageMessage - 14]
        #expect(passes((sizes + sizes).map { frame(0x81, $0) }))
        // With a ping between two frames.
        let divided = frame(0x01, 300) + frame(0x89, 4) + frame(0x00, 300) + frame(0x80, 0) + frame(0x82, 1)
        #expect(passes(divided.map { [$0] }))
    }

    @Test("WebSocket message beyond the size limit: refused before all of it has arrived, in one frame or in many")
    func tooLong() {
        #expect(!passes([frame(0x81, Limits.pageMessage, sent: 0)]))
        #expect(!passes([frame(0x81, .max, sent: 0)]))
        #expect(!passes([[0x81, 0xFF] + [UInt8](repeating: 0xFF, count: 8) + [1, 2, 3, 4]]))
        // The beginnings of frames count too, so that empty ones are no way to send without an end.
        for size in [0, 1, 1000, 100_000] {
            var meter = MessageMeter()
            var sent = 0
            let part = frame(0x00, size)
            while meter.takes(part), sent <= Limits.pageMessage { sent += part.count }
            #expect(sent <= Limits.pageMessage)
        }
    }

    @Test("WebSocket ping of 125 bytes passes, and one of 126 bytes is refused")
    func pings() { #expect(passes([frame(0x89, 125)]) && !passes([frame(0x89, 126)])) }
}
