// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TagLink
import Testing

@testable import TagProtocols

@Suite struct `EF.CardAccess` {
    /// PACE with the elliptic curve of parameter set 13, as the worked example of ICAO Doc 9303-11 has it.
    static let pace = bytes("31 14 30 12 06 0a 04007f00070202040202 02 01 02 02 01 0d")

    /// A card with the file, or with other data under its name.
    private final class Card: APDULink {
        let file: [UInt8]?
        let chunk: Int
        let commands = Mutex<[[UInt8]]>([])

        init(_ file: [UInt8]?, chunk: Int = 256) {
            (self.file, self.chunk) = (file, chunk)
        }

        var maximumCommandLength: Int { 261 }
        var maximumResponseLength: Int { 258 }
        var statistics: LinkStatistics { LinkStatistics() }

        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
            commands.withLock { $0.append(apdu) }
            guard let file else { return [0x6A, 0x82] }
            guard apdu[1] == 0xB0 else { return [0x90, 0x00] }
            let offset = Int(apdu[2]) << 8 | Int(apdu[3])
            guard offset < file.count else { return [0x6B, 0x00] }
            let data = file[offset...].prefix(chunk)
            return data + (offset + data.count == file.count && data.count < 256 ? [0x62, 0x82] : [0x90, 0x00])
        }

        func isPresent() async -> Bool { true }
    }

    @Test func `A variant of PACE is one`() throws {
        let access = try #require(CardAccess(Self.pace))
        #expect(access.supportsPACE)
        #expect(access.protocols == [bytes("04007f00070202040202")])
    }

    @Test func `Other protocols, and parameters alone, are ignored`() throws {
        let entries = [bytes("04007f0007020202"), bytes("04007f000702020402")]
        for entry in entries {
            let sequence = [0x06, UInt8(entry.count)] + entry
            let file = [0x31, UInt8(sequence.count + 2), 0x30, UInt8(sequence.count)] + sequence
            #expect(try #require(CardAccess(file)).supportsPACE == false)
        }
        #expect(try #require(CardAccess([0x31, 0x00])).supportsPACE == false)
    }

    @Test func `What is cut off or malformed is no file, wherever it is cut`() {
        for count in 0..<Self.pace.count { #expect(CardAccess(Array(Self.pace.prefix(count))) == nil) }
        for index in Self.pace.indices {
            for bit in 0..<8 {
                var file = Self.pace
                file[index] ^= 1 << bit
                // No bit makes it crash, or list more than one protocol.
                #expect(CardAccess(file)?.protocols.count ?? 0 <= 1)
            }
        }
    }

    @Test func `A length has one, two or three bytes, at each depth`() throws {
        let name = "04007f00070202040202"
        for (entry, set) in [
            ("30 0c 06 0a", "31 0e"), ("30 81 0c 06 0a", "31 81 0f"), ("30 82 000c 06 0a", "31 82 0010"),
            ("30 81 0d 06 81 0a", "31 10"), ("30 82 000e 06 82 000a", "31 81 12"), ("30 0e 06 82 000a", "31 82 0010"),
        ] {
            let file = bytes(set + entry + name)
            #expect(CardAccess.length(of: Array(file.prefix(4))) == file.count, "\(set) \(entry)")
            #expect(CardAccess(file)?.protocols == [bytes(name)], "\(set) \(entry)")
            #expect(CardAccess(file + [0x00, 0x31]) == CardAccess(file))
            #expect(CardAccess(Array(file.dropLast())) == nil)
        }
        for start in ["31", "31 81", "31 82 00", "31 80", "31 83 000010", "30 0e"] {
            #expect(CardAccess.length(of: bytes(start)) == nil, "\(start)")
        }
        let two = bytes("31 1e") + bytes("30 0d 06 0a" + name + "ff") + bytes("30 0d 06 0a 04007f00070202040204 02")
        #expect(CardAccess(two)?.protocols == [bytes(name), bytes("04007f00070202040204")])
    }

    @Test func `The file is read, in one part or in many`() async throws {
        let long = [0x31, 0x82, 0x01, 0x2C] + Array(repeating: bytes("30 08 06 06 040000000001"), count: 30).joined()
        for (file, chunk, count) in [(Self.pace, 256, 2), (Self.pace, 7, 5), (long, 256, 3), (long, 100, 5)] {
            let card = Card(file, chunk: chunk)
            let access = try #require(await card.readCardAccess())
            #expect(access == CardAccess(file))
            let commands = card.commands.withLock { $0 }
            #expect(commands.first == bytes("00a4020c02011c"))
            #expect(commands.count == count)
        }
    }

    @Test(
        arguments: [nil, [], bytes("6f0a"), bytes("3182ffff00"), bytes("31"), bytes("3184")] as [[UInt8]?]
    )
    func `A card without it, or with something else there, has none`(file: [UInt8]?) async throws {
        let card = Card(file)
        #expect(try await card.readCardAccess() == nil)
        #expect(card.commands.withLock { $0.count } <= 3)
    }

    @Test(arguments: [(1020, true), (1021, false)])
    func `A file has 1024 bytes at most`(length: Int, isRead: Bool) async throws {
        let entry = bytes("30 08 06 06 040000000001")
        let entries: [UInt8] = (0..<102).flatMap { _ in entry }
        let file: [UInt8] = [0x31, 0x82, UInt8(length >> 8), UInt8(length & 0xFF)] + entries + [0x00]
        let card = Card(Array(file.prefix(4 + length)))
        #expect(try await card.readCardAccess()?.protocols.count == (isRead ? 102 : nil))
        #expect(card.commands.withLock { $0.count } == (isRead ? 5 : 2))
    }
}
