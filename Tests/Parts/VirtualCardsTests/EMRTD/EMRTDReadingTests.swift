// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Files through secure messaging, and the document in a field.
@Suite struct `Reading a travel document` {
    /// A document whose data group 2 has more than 32767 bytes.
    private func largeDocument() throws -> EMRTDContents {
        let portrait = EMRTDContents.samplePortrait
        // A comment that a picture may have any number of.
        let comment = [0xFF, 0xFE, 0xFF, 0xFF] + (0..<65533).map { UInt8(truncatingIfNeeded: $0 * 7) }
        return try EMRTDContents(
            MachineReadableZone(EMRTDTerminal.zone),
            portrait: portrait[..<2] + comment + portrait[2...],
            signer: .test
        )
    }

    @Test func `Every file is read by its short identifier and by its own`() throws {
        let contents = try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test)
        var terminal = try EMRTDTerminal.open(contents)
        for (identifier, short) in [(UInt16(0x011E), UInt8(0x1E)), (0x0101, 1), (0x0102, 2), (0x011D, 0x1D)] {
            let file = try #require(contents.files[identifier])
            #expect(try terminal.read(short) == file)
            #expect(try terminal.send("0c a4 02 0c", [UInt8(identifier >> 8), short]).status == "90 00")
            let head = try terminal.send("0c b0 00 01", length: [3])
            #expect(head.data == Array(file[1..<4]))
        }
        #expect(try terminal.send("0c a4 02 0c", [0x01, 0x03]).status == "6a 82")
        #expect(try terminal.send("0c b0 83 00", length: [1]).status == "6a 82")
        // A refusal in the session leaves the session, and the file that was selected.
        #expect(try terminal.send("0c b0 00 00", length: [1]).data == [0x77])
        let control = try terminal.send("0c a4 02 00", [0x01, 0x01], length: [0])
        #expect(hexText(control.data) == "6f 0b 80 02 00 5d 82 01 01 83 02 01 01")
    }

    @Test func `Offsets and lengths at the end of a file and of an answer`() throws {
        var terminal = try EMRTDTerminal.open(try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test))
        let size = try terminal.read(0x1E).count
        #expect(size == 0x16)
        let last = try terminal.send("0c b0 00 15", length: [1])
        #expect(last.data == [0x75] && last.status == "90 00")
        let beyond = try terminal.send("0c b0 00 15", length: [2])
        #expect(beyond.data == [0x75] && beyond.status == "62 82")
        #expect(try terminal.send("0c b0 00 16", length: [1]).status == "6b 00")
        #expect(try terminal.send("0c b0 00 00", length: [0]).data.count == size)
        #expect(try terminal.send("0c b0 00 00").status == "67 00")
        #expect(try terminal.send("0c b0 9f 00", length: [1]).status == "6a 86")
        // A protected answer of 256 bytes holds 231 bytes of data.
        #expect(try terminal.send("0c b0 82 00", length: [0]).data.count == 231)
        #expect(try terminal.send("0c b0 82 00", length: [231]).data.count == 231)
        #expect(try terminal.send("0c b0 82 00", length: [232]).status == "67 00")
        #expect(try terminal.send("0c b0 82 00", length: [0, 0], extended: true).data.count > 1000)
        #expect(try terminal.send("0c b0 82 00", length: [2, 0], extended: true).data.count == 512)
    }

    /// The length in the protected command, whether the command has extended lengths, and the status at the end of EF.COM.
    @Test(arguments: [
        ([UInt8(0)], false, "90 00"), ([0, 0], false, "90 00"), ([1, 0], false, "67 00"), ([0], true, "90 00"),
        ([0, 0], true, "90 00"), ([1, 0], true, "62 82"), ([0xFF], true, "62 82"),
    ]) func `A length of zeros alone asks for all bytes`(length: [UInt8], extended: Bool, status: String) throws {
        var terminal = try EMRTDTerminal.open(try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test))
        let answer = try terminal.send("0c b0 9e 00", length: length, extended: extended)
        #expect(answer.status == status)
        #expect(answer.data.count == (status == "67 00" ? 0 : 0x16))
    }

    @Test func `An extended length of 256 is not all, without protection either`() throws {
        let zone = try MachineReadableZone(EMRTDTerminal.zone)
        var terminal = try EMRTDTerminal(EMRTDContents(zone, signer: .test))
        let information = "47 03 94 01 60 7f 66 08 02 02 ff ff 02 02 ff ff"
        #expect(terminal.plain("00 b0 81 00 00") == "\(information) 90 00")
        #expect(terminal.plain("00 b0 81 00 00 00 00") == "\(information) 90 00")
        #expect(terminal.plain("00 b0 81 00 00 01 00") == "\(information) 62 82")
        #expect(terminal.plain(EMRTDTerminal.selectApplication) == "90 00")
        for (length, count) in [("08", 10), ("00", 10), ("00 00 08", 10), ("00 00 00", 10), ("00 01 00", 2)] {
            #expect(hex(terminal.plain("00 84 00 00 \(length)")).count == count, "\(length)")
        }
    }

    @Test func `An answer has up to 65533 bytes`() throws {
        var contents = try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test)
        contents.cardAccess = [UInt8](repeating: 0x31, count: 65535)
        var terminal = EMRTDTerminal(contents)
        let answer = hex(terminal.plain("00 b0 9c 00 00 00 00"))
        #expect(answer.count == 65533 + 2 && answer.suffix(2) == [0x90, 0x00])
    }

    @Test func `The odd instruction reads beyond 32767 bytes`() throws {
        let contents = try largeDocument()
        let file = try #require(contents.files[0x0102])
        #expect(file.count > 0x1_0000)
        var terminal = try EMRTDTerminal.open(contents)
        #expect(try terminal.send("0c b1 00 02", [0x54, 1, 0], length: [6]).data == [0x53, 4] + file[..<4])
        let far = try terminal.send("0c b1 00 00", [0x54, 3, 0x01, 0x00, 0x05], length: [0x20])
        #expect(far.status == "90 00")
        #expect(far.data == [0x53, 30] + file[0x10005..<0x10023])
        let long = try terminal.send("0c b1 01 02", [0x54, 2, 0x80, 0x00], length: [0])
        #expect(
            long.data.starts(with: [0x53, 0x81, 228]) && long.data.dropFirst(3).elementsEqual(file[0x8000..<0x80E4])
        )
        let whole = try terminal.send("0c b1 00 00", [0x54, 1, 0], length: [0x7F, 0xFF], extended: true)
        #expect(whole.data.starts(with: [0x53, 0x82, 0x7F, 0xFB]) && whole.data.count == 0x7FFF)
        #expect(try terminal.send("0c b1 00 00", [0x54, 3, 2, 0, 0], length: [4]).status == "6b 00")
        #expect(try terminal.send("0c b1 00 02", [0x54, 4, 0, 0, 0, 0], length: [6]).data == [0x53, 4] + file[..<4])
        #expect(try terminal.send("0c b1 00 02", [0x54, 5, 0, 0, 0, 0, 0], length: [6]).status == "6a 80")
        #expect(try terminal.send("0c b1 00 00", [0x55, 1, 0], length: [4]).status == "6a 80")
        #expect(try terminal.send("0c b1 00 03", [0x54, 1, 0], length: [4]).status == "6a 82")
    }

    @Test func `A random identifier is another one each time that the power comes back`() async throws {
        let tag = VirtualType4Tag(try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test))
        let script = try LinkScript(.nfcA, tag)
        var seen: Set<String> = []
        for _ in 0..<3 {
            #expect(await script.exchange(Frame(bits: [0x52], validBitsInLastByte: 7)) == "08 00")
            let identifier = await script.exchange(Frame(hex("93 20"), checksum: .none))
            #expect(identifier.hasPrefix("08"))
            seen.insert(identifier)
            #expect(await script.send("93 70 \(identifier)") == "20")
            #expect(await script.send("e0 80") == "0a 78 77 90 02 80 73 94 01 60")
            tag.losePower()
        }
        #expect(seen.count == 3)
    }

    @Test func `A fixed identifier stays`() async throws {
        let contents = try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test)
        let tag = VirtualType4Tag(contents, frontEnd: .emrtd(uid: hex("04 11 22 33 44 55 66")))
        tag.losePower()
        let script = try LinkScript(.nfcA, tag)
        await script.activateA(hex("04 11 22 33 44 55 66"))
        #expect(await script.send("e0 80") == "0a 78 77 90 02 80 73 94 01 60")
    }

    @Test func `Over NFC-B the document reports its family and its application`() async throws {
        let contents = try EMRTDContents(MachineReadableZone(EMRTDTerminal.zone), signer: .test)
        let tag = VirtualType4Tag(contents, frontEnd: .emrtd(pupi: [1, 2, 3, 4]))
        let script = try LinkScript(.nfcB, tag)
        #expect(await script.send("05 e1 08") == "50 01 02 03 04 e1 f3 5e 11 77 81 95")
        #expect(await script.send("1d 01 02 03 04 00 08 01 00") == "00")
        let select = EMRTDTerminal.selectApplication
        #expect(await script.send("02 \(select)") == "02 90 00")
        #expect(await script.send("03 00 b0 9e 00 04") == "03 69 82")
    }

    @Test(arguments: [
        ([UInt8(0x81)], "53 7f", 127), ([0x82], "53 7f", 127), ([0x83], "53 81 80", 128),
        ([0x01, 0x02], "53 81 ff", 255), ([0x01, 0x03], "53 81 ff", 255), ([0x01, 0x04], "53 82 01 00", 256),
    ]) func `The length of an odd READ BINARY counts the header of its object`(
        length: [UInt8],
        head: String,
        count: Int
    ) throws {
        let zone = try MachineReadableZone(EMRTDTerminal.zone)
        var terminal = try EMRTDTerminal.open(EMRTDContents(zone, signer: .test))
        let file = try #require(terminal.card.contents.files[0x0102])
        let answer = try terminal.send("0c b1 00 02", [0x54, 1, 0], length: length, extended: length.count == 2)
        #expect(answer.status == "90 00")
        #expect(hexText(answer.data) == hexText(hex(head) + file[..<count]))
    }

    @Test func `An odd READ BINARY asks for a byte at least`() throws {
        let zone = try MachineReadableZone(EMRTDTerminal.zone)
        var terminal = try EMRTDTerminal.open(EMRTDContents(zone, signer: .test))
        for length in [UInt8(1), 2] {
            let answer = try terminal.send("0c b1 00 02", [0x54, 1, 0], length: [length])
            #expect(answer.status == "67 00" && answer.data.isEmpty)
        }
        let answer = try terminal.send("0c b1 00 02", [0x54, 1, 0], length: [3])
        #expect(answer.status == "90 00" && hexText(answer.data) == "53 01 75")
    }

    @Test func `Commands with other parameters, or at another time, are refused`() throws {
        let zone = try MachineReadableZone(EMRTDTerminal.zone)
        var terminal = try EMRTDTerminal(EMRTDContents(zone, signer: .test))
        #expect(terminal.plain("00 a4 04 04 07 a0 00 00 02 47 10 01") == "6a 86")
        #expect(terminal.plain("00 a4 04 0c 04 a0 00 00 02") == "67 00")
        #expect(terminal.plain("00 a4 04 0c 05 a0 00 00 02 47") == "6a 82")
        #expect(terminal.plain("00 a4 01 0c 02 01 1e") == "6a 86")
        #expect(terminal.plain(EMRTDTerminal.selectApplication) == "90 00")
        #expect(terminal.plain("00 84 01 00 08") == "6a 86")
        #expect(terminal.plain("00 84 00 00 09") == "67 00")
        #expect(hex(terminal.plain("00 84 00 00 00")).count == 10)
        try terminal.authenticate()
        let zeros = [UInt8](repeating: 0, count: 40)
        #expect(try terminal.send("0c 82 00 00", zeros, length: [40]).status == "69 85")
        #expect(try terminal.read(0x1E).starts(with: [0x60]))
    }
}
