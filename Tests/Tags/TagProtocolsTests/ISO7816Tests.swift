// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing

@testable import TagProtocols  // commands for files are internal

/// Commands, responses and status words (ISO/IEC 7816-4, 5), and EF.CardAccess (ICAO Doc 9303-11).
struct ISO7816Tests {
    @Test(arguments: try Scenario.all(in: "iso7816.txt"))
    func `APDU link: each command makes exactly the exchanges of iso7816.txt`(scenario: Scenario) async {
        for part in scenario.cases {
            let link = ScriptedLink()
            await Script(part.text).run(on: link) { call in
                let bytes = call.bytes()
                let command = CommandAPDU(bytes[0], bytes[1], bytes[2], bytes[3], expectedLength: Int(bytes[4]))
                let response = try await link.send(command)
                return (response.data.isEmpty ? "-" : hex(response.data)) + " \(response.status)"
            }
        }
    }

    @Test func `APDU status word: 9000, 61XX, 62XX and 63XX are a success or warning, others are errors`() {
        for (word, isFine): (UInt16, Bool) in [
            (0x9000, true), (0x9001, false), (0x6100, true), (0x62FF, true), (0x63C0, true), (0x60FF, false),
            (0x6400, false), (0x6A82, false),
        ] { #expect(StatusWord(rawValue: word).isSuccessOrWarning == isFine) }
        #expect(ResponseAPDU([0x90]) == nil && ResponseAPDU([0x90, 0x00]) == ResponseAPDU(status: .success))
    }

    // MARK: Commands

    /// The data, Ne, and the command; `{n*09}` are data.
    @Test(
        arguments: [
            (0, nil, "01020304"), (0, 0, "01020304"), (0, 1, "0102030401"), (0, 255, "01020304ff"),
            (0, 256, "0102030400"), (0, 257, "01020304000101"), (0, 65536, "01020304000000"),
            (1, nil, "0102030401{1*09}"), (255, nil, "01020304ff{255*09}"), (255, 256, "01020304ff{255*09}00"),
            (255, 257, "010203040000ff{255*09}0101"), (256, nil, "01020304000100{256*09}"),
            (65535, 65536, "0102030400ffff{65535*09}0000"),
        ] as [(Int, Int?, String)]
    ) func `APDU command: lengths in one byte up to 255 bytes of data and Ne 256, extended beyond`(
        count: Int,
        expected: Int?,
        text: String
    ) {
        let data = [UInt8](repeating: 9, count: count)
        #expect(CommandAPDU(1, 2, 3, 4, data: data, expectedLength: expected).bytes == bytes(text))
    }

    @Test(.ownThreads) func `APDU command: more data or another Ne than the lengths can say traps`() async {
        await #expect(processExitsWith: .failure) {
            _ = CommandAPDU(0, 0, 0, 0, data: [UInt8](repeating: 9, count: 65536))
        }
        await #expect(processExitsWith: .failure) { _ = CommandAPDU(0, 0, 0, 0, expectedLength: 65537) }
        await #expect(processExitsWith: .failure) { _ = CommandAPDU(0, 0, 0, 0, expectedLength: -1) }
    }

    @Test func `APDU file commands: SELECT, READ and UPDATE BINARY, with offset objects beyond 7FFF`() {
        let commands: [(CommandAPDU, String)] = [
            (.select(application: [0xA0, 1]), "00a4040002a00100"),
            (.select(application: [0xA0, 1], expectsTemplate: false), "00a4040002a001"),
            (.select(file: 0xE103), "00a4000c02e103"), (.select(file: 0xE103, parameter2: 0), "00a4000002e103"),
            (.readBinary(offset: 0x0102, count: 3), "00b0010203"),
            (.readBinary(offset: 0x7FFF, count: 4), "00b07fff04"),
            (.readBinary(offset: 0x8000, count: 4), "00b1000005540300800006"),
            (.readBinary(offset: 0x12345, count: 200), "00b10000055403012345cb"),
            (.updateBinary(offset: 0x7FFF, data: [9]), "00d67fff0109"),
            (.updateBinary(offset: 0x8000, data: [1, 2]), "00d7000009540300800053020102"),
        ]
        for (command, text) in commands { #expect(hex(command.bytes) == text) }
    }

    @Test
    func `data object 53: lengths of one to three bytes are written and read; nil if cut, too long or of another tag`()
    {
        for (count, length) in [(0x7F, "7f"), (0x80, "8180"), (0xFF, "81ff"), (0x100, "820100")] {
            #expect(hex(DataObject.lengthField(count)) == length)
            #expect(CommandAPDU.discretionaryOverhead(count) == 1 + length.count / 2)
            let data = [UInt8](repeating: 9, count: count)
            #expect(CommandAPDU.discretionaryData([0x53] + bytes(length) + data) == data)
            #expect(CommandAPDU.discretionaryData([0x53] + bytes(length) + data + [9]) == nil)
        }
        for text in ["538101aa", "53820001aa"] { #expect(CommandAPDU.discretionaryData(bytes(text)) == [0xAA]) }
        for text in ["", "53", "5401aa", "5302aa", "5301aabb", "5380", "5381", "53840000000109"] {
            #expect(CommandAPDU.discretionaryData(bytes(text)) == nil, "\(text)")
        }
    }

    // MARK: EF.CardAccess

    /// PACE with the elliptic curve of parameter set 13, as the worked example of ICAO Doc 9303-11 has it.
    private static let pace = bytes("31 14 30 12 06 0a 04007f00070202040202 02 01 02 02 01 0d")
    private static let name = "04007f00070202040202"

    @Test func `EF.CardAccess: its protocols are listed, and supportsPACE is true only for a variant of PACE`() throws {
        let access = try #require(CardAccess(Self.pace))
        #expect(access.supportsPACE && access.protocols == [bytes(Self.name)])
        for entry in ["04007f0007020202", "04007f000702020402"] {
            let sequence = "06" + hex([UInt8(bytes(entry).count)]) + entry
            let count = UInt8(bytes(sequence).count)
            #expect(CardAccess(bytes("31" + hex([count + 2]) + "30" + hex([count]) + sequence))?.supportsPACE == false)
        }
        #expect(CardAccess([0x31, 0x00])?.supportsPACE == false)
        let two = "31 1e 30 0d 06 0a \(Self.name) ff 30 0d 06 0a 04007f00070202040204 02"
        #expect(CardAccess(bytes(two))?.protocols == [bytes(Self.name), bytes("04007f00070202040204")])
    }

    @Test func `EF.CardAccess: lengths of one, two or three bytes at each depth`() {
        for (entry, set) in [
            ("30 0c 06 0a", "31 0e"), ("30 81 0c 06 0a", "31 81 0f"), ("30 82 000c 06 0a", "31 82 0010"),
            ("30 81 0d 06 81 0a", "31 10"), ("30 82 000e 06 82 000a", "31 81 12"), ("30 0e 06 82 000a", "31 82 0010"),
        ] {
            let file = bytes(set + entry + Self.name)
            #expect(CardAccess.length(of: Array(file.prefix(4))) == file.count, "\(set) \(entry)")
            #expect(CardAccess(file)?.protocols == [bytes(Self.name)], "\(set) \(entry)")
            #expect(CardAccess(file + [0x00, 0x31]) == CardAccess(file) && CardAccess(Array(file.dropLast())) == nil)
        }
        for start in ["31", "31 81", "31 82 00", "31 80", "31 84 00000010", "30 0e"] {
            #expect(CardAccess.length(of: bytes(start)) == nil, "\(start)")
        }
    }

    @Test func `EF.CardAccess: a file cut anywhere is nil, and no flipped bit lists more protocols`() {
        for count in 0..<Self.pace.count { #expect(CardAccess(Array(Self.pace.prefix(count))) == nil) }
        for place in 0..<Self.pace.count * 8 {
            var file = Self.pace
            file[place / 8] ^= 1 << (place % 8)
            #expect(CardAccess(file)?.protocols.count ?? 0 <= 1)
        }
    }

    /// The file, the most bytes of an answer, the number of reads, and of protocols; nil where it is none.
    @Test(
        arguments: [
            (pace, 256, 1, 1), (pace, 7, 4, 1),
            ([0x31, 0x82, 0x01, 0x2C] + bytes("{30*30080606040000000001}"), 256, 2, 30),
            ([0x31, 0x82, 0x01, 0x2C] + bytes("{30*30080606040000000001}"), 100, 4, 30),
            // A file has 1024 bytes at most.
            ([0x31, 0x82, 0x03, 0xFC] + bytes("{102*30080606040000000001}"), 256, 4, 102),
            ([0x31, 0x82, 0x03, 0xFD] + bytes("{102*30080606040000000001}00"), 256, 1, nil), ([], 256, 1, nil),
            (bytes("6f0a"), 256, 1, nil), (bytes("31"), 256, 1, nil), (bytes("3184"), 256, 1, nil),
            (bytes("3182ffff00"), 256, 1, nil),
        ] as [([UInt8], Int, Int, Int?)]
    ) func `EF.CardAccess: read in as many parts as the card sends, up to 1024 bytes; nil if missing or malformed`(
        file: [UInt8],
        chunk: Int,
        reads: Int,
        protocols: Int?
    ) async throws {
        let card = FileCard(file, chunk: chunk)
        #expect(try await card.readCardAccess()?.protocols.count == protocols)
        #expect(card.commands.withLock { $0.first } == bytes("00a4020c02011c"))
        #expect(card.commands.withLock { $0.count } == 1 + reads)
        let none = ScriptedLink(exchanges: "> 00a4020c02011c < 6a82")
        #expect(try await none.readCardAccess() == nil && none.remaining == 0)
    }

    /// A card with one file.
    private final class FileCard: APDULink {
        let file: [UInt8]
        let chunk: Int
        let commands = Locked<[[UInt8]]>([])

        init(_ file: [UInt8], chunk: Int) { (self.file, self.chunk) = (file, chunk) }

        var maximumCommandLength: Int { 261 }
        var maximumResponseLength: Int { 258 }
        var statistics: LinkStatistics { LinkStatistics() }

        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
            commands.withLock { $0.append(apdu) }
            guard apdu[1] == 0xB0 else { return [0x90, 0x00] }
            let offset = Int(apdu[2]) << 8 | Int(apdu[3])
            guard offset < file.count else { return [0x6B, 0x00] }
            let data = file[offset...].prefix(chunk)
            return data + (offset + data.count == file.count && data.count < 256 ? [0x62, 0x82] : [0x90, 0x00])
        }

        func isPresent() async -> Bool { true }
    }
}
