// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

@Suite struct `ISO 7816-4 commands` {
    static let commands: [(CommandAPDU, String)] = [
        (CommandAPDU(0, 0xA4, 4, 0), "00a40400"),
        (CommandAPDU(0, 0xB0, 0, 0, expectedLength: 15), "00b000000f"),
        (CommandAPDU(0, 0xB0, 0, 0, expectedLength: 256), "00b0000000"),
        (CommandAPDU(0, 0xD6, 0, 0, data: [1, 2]), "00d60000020102"),
        (CommandAPDU(0, 0xD6, 0, 0, data: [1, 2], expectedLength: 256), "00d6000002010200"),
        (CommandAPDU(0, 0xB0, 0, 0, expectedLength: 257, usesExtendedLength: true), "00b00000000101"),
        (CommandAPDU(0, 0xB0, 0, 0, expectedLength: 65536, usesExtendedLength: true), "00b00000000000"),
        (CommandAPDU(0, 0xD6, 0, 0, data: [9], usesExtendedLength: true), "00d6000000000109"),
        (CommandAPDU(0, 0xD6, 0, 0, data: [9], expectedLength: 3, usesExtendedLength: true), "00d60000000001090003"),
    ]

    @Test(arguments: commands) func `A command is put together and taken apart`(_ command: CommandAPDU, _ text: String)
    {
        #expect(hex(command.bytes) == text)
        #expect(CommandAPDU(bytes(text)) == command)
    }

    @Test func `More than 255 bytes of data take the extended form`() {
        let command = CommandAPDU(0, 0xD6, 0, 0, data: message(300))
        #expect(hex(command.bytes.prefix(7)) == "00d6000000012c")
        #expect(CommandAPDU(command.bytes)?.data == message(300))
        #expect(hex(CommandAPDU(0, 0xB0, 0, 0, expectedLength: 300).bytes) == "00b0000000012c")
    }

    @Test func `What does not add up is no command`() {
        for text in [
            "", "00a404", "00a4040002aa", "00a4040001aabbcc", "00a404000001", "00a40400000002aa", "00a404000000aabb",
        ] {
            #expect(CommandAPDU(bytes(text)) == nil)
        }
    }

    @Test func `Offsets beyond 7FFF go into data objects`() {
        #expect(hex(CommandAPDU.readBinary(offset: 0x7FFF, count: 4).bytes) == "00b07fff04")
        #expect(hex(CommandAPDU.readBinary(offset: 0x8000, count: 4).bytes) == "00b10000055403008000" + "06")
        #expect(hex(CommandAPDU.readBinary(offset: 0x12345, count: 200).bytes) == "00b1000005540301234" + "5cb")
        #expect(
            hex(CommandAPDU.updateBinary(offset: 0x8000, data: [1, 2]).bytes) == "00d70000095403008000" + "53020102"
        )
        #expect(CommandAPDU.discretionaryData(bytes("53020102")) == [1, 2])
        #expect(CommandAPDU.discretionaryData(bytes("538101aa")) == [0xAA])
        #expect(CommandAPDU.discretionaryData(bytes("53820001aa")) == [0xAA])
        for text in ["", "53", "5401aa", "5302aa", "5301aabb", "5380", "5381"] {
            #expect(CommandAPDU.discretionaryData(bytes(text)) == nil)
        }
    }

    @Test func `61xx is followed by GET RESPONSE, and 6Cxx by the right length`() async throws {
        let card = ISODEP(
            link: ScriptedLink([
                .exchange("e080", "0578807002"), .exchange("02 00b0000002", "02 6c05"),
                .exchange("03 00b0000005", "03 0102 6103"), .exchange("02 00c0000003", "02 030405 9000"),
            ])
        )
        let response = try await card.send(CommandAPDU(0, 0xB0, 0, 0, expectedLength: 2))
        #expect(response == ResponseAPDU(data: [1, 2, 3, 4, 5], status: .success))
        #expect(StatusWord(rawValue: 0x6A82).description == "6A82")
    }
}
