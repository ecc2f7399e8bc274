// SPDX-License-Identifier: Apache-2.0
import PeerSupport
import TagLink
import Testing
import VirtualTags

@Suite struct `Datagrams and programs` {
    @Test func `A datagram is a bit rate and bytes, or says that the field is off`() {
        #expect(FrameDatagram(Array("RFOFF".utf8)) == .fieldOff)
        #expect(FrameDatagram(Array("106A 9320".utf8)) == .frame(bitRate: "106A", bytes: [0x93, 0x20]))
        for wrong in ["", "106A", "106A 932", "106A 9x", "106A 93 20", "RFOFF 00", "é"] {
            #expect(FrameDatagram(Array(wrong.utf8)) == nil, "\(wrong)")
        }
        #expect(FrameDatagram.answer([0x0A], bitRate: "106A") == Array("106A 0a".utf8))
        #expect(FrameDatagram.answer([], bitRate: "106A") == Array("106A".utf8))
    }

    @Test func `Bytes go over the air as a reader's chip would send them`() {
        var frames = FrameMaker()
        let request = Frame(bits: [0x26], validBitsInLastByte: 7)
        #expect(frames.frame([0x26], .nfcA) == request)
        #expect(frames.frame([0x93, 0x20], .nfcA) == Frame([0x93, 0x20], checksum: .none))
        #expect(frames.frame([0x30, 0x00], .nfcA) == Frame([0x30, 0x00]))
        frames.learn(from: Frame([0x00, 0x0C], checksum: .none), to: request)
        #expect(frames.frame([0x78, 0, 0, 0, 0, 0, 0], .nfcA) == Frame([0x78, 0, 0, 0, 0, 0, 0], checksum: .crcB))
        frames.learn(from: Frame([0x44, 0x00], checksum: .none), to: request)
        #expect(frames.frame([0x30, 0x00], .nfcA) == Frame([0x30, 0x00]))
        #expect(frames.frame([0x26], .nfcB) == Frame([0x26]))
    }

    @Test func `A program that hangs is killed, and says no more`() async throws {
        let process = try LineProcess("/bin/sh", ["-c", "read line; echo heard; read line; exec sleep 600"])
        #expect(try await process.ask("one") == "heard")
        let start = ContinuousClock.now
        await #expect(throws: PeerError.self) { try await process.ask("two", within: .milliseconds(200)) }
        #expect(ContinuousClock.now - start < .seconds(60))
        #expect(try await process.finish() == -9)
        await #expect(throws: PeerError.self) { try await process.ask("three") }
    }

    @Test func `A program that ends gives its status, and a missing one an error`() async throws {
        let process = try LineProcess("/bin/sh", ["-c", "exit 3"])
        await #expect(throws: PeerError.self) { try await process.ask("one") }
        #expect(try await process.finish() == 3)
        #expect(throws: PeerError.self) { try LineProcess("/nowhere/python", []) }
    }
}
