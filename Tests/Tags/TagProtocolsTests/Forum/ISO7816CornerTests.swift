// SPDX-License-Identifier: Apache-2.0
import TagLink
import TestThreads
import Testing

@testable import TagProtocols

/// Commands and answers at the limits of their lengths, and cards that repeat 61xx and 6Cxx (ISO/IEC 7816-4, 5).
@Suite struct `ISO 7816-4 with odd partners` {
    private static func send(_ command: CommandAPDU, _ script: (String, String)...) async throws -> (
        String, StatusWord, Int
    ) {
        let card = ScriptedCard(script.map { .command($0.0, $0.1) })
        let response = try await card.send(command)
        return (hex(response.data), response.status, card.left)
    }

    private static let read = CommandAPDU(0x00, 0xB0, 0, 0, expectedLength: 2)

    @Test func `6Cxx is obeyed once, and only when it comes alone`() async throws {
        #expect(
            try await Self.send(Self.read, ("00b0000002", "6c05"), ("00b0000005", "01 9000")) == ("01", .success, 0)
        )
        #expect(
            try await Self.send(Self.read, ("00b0000002", "6c00"), ("00b0000000", "01 9000")) == ("01", .success, 0)
        )
        let twice = try await Self.send(Self.read, ("00b0000002", "6c05"), ("00b0000005", "6c04"))
        #expect(twice == ("", StatusWord(rawValue: 0x6C04), 0))
        let data = try await Self.send(Self.read, ("00b0000002", "0102 6c05"))
        #expect(data == ("0102", StatusWord(rawValue: 0x6C05), 0))
        let corrected = try await Self.send(
            Self.read,
            ("00b0000002", "6c05"),
            ("00b0000005", "01 6101"),
            ("00c0000001", "02 9000")
        )
        #expect(corrected == ("0102", .success, 0))
    }

    @Test func `61xx is followed by GET RESPONSE of the command's class, for as long as there is more`() async throws {
        let command = CommandAPDU(0x0C, 0xB0, 0, 0, expectedLength: 2)
        let answer = try await Self.send(
            command,
            ("0cb0000002", "01 6100"),
            ("0cc0000000", "02 6102"),
            ("0cc0000002", "0304 6282")
        )
        #expect(answer == ("01020304", .endOfFile, 0))
        let error = try await Self.send(Self.read, ("00b0000002", "01 6105"), ("00c0000005", "6f00"))
        #expect(error == ("01", StatusWord(rawValue: 0x6F00), 0))
        let empty = try await Self.send(Self.read, ("00b0000002", "6105"), ("00c0000005", "9000"))
        #expect(empty == ("", .success, 0))
        await #expect(throws: TagError(.badAnswer, "")) {
            try await Self.send(Self.read, ("00b0000002", "01 6105"), ("00c0000005", "6105"))
        }
    }

    @Test func `6Cxx to GET RESPONSE is obeyed once as well, each time`() async throws {
        let once = try await Self.send(
            Self.read,
            ("00b0000002", "01 6105"),
            ("00c0000005", "6c02"),
            ("00c0000002", "0203 9000")
        )
        #expect(once == ("010203", .success, 0))
        let more = try await Self.send(
            Self.read,
            ("00b0000002", "6c01"),
            ("00b0000001", "01 6100"),
            ("00c0000000", "6c02"),
            ("00c0000002", "0203 6101"),
            ("00c0000001", "6c00"),
            ("00c0000000", "04 9000")
        )
        #expect(more == ("01020304", .success, 0))
        let twice = try await Self.send(
            Self.read,
            ("00b0000002", "01 6105"),
            ("00c0000005", "6c02"),
            ("00c0000002", "6c01")
        )
        #expect(twice == ("01", StatusWord(rawValue: 0x6C01), 0))
    }

    @Test func `GET RESPONSE has an end, by its rounds and by its bytes`() async throws {
        func rounds(_ count: Int, _ part: String) async throws -> Int {
            let more = [(String, String)](repeating: ("00c0000001", part + "6101"), count: count - 1)
            let script = [("00b0000002", "6101")] + more + [("00c0000001", part + "9000")]
            let card = ScriptedCard(script.map { .command($0.0, $0.1) })
            return try await card.send(Self.read).data.count
        }
        #expect(try await rounds(511, "01") == 511)
        await #expect(throws: TagError(.badAnswer, "")) { try await rounds(513, "01") }
        let kilobyte = String(repeating: "01", count: 1024)
        #expect(try await rounds(64, kilobyte) == 65536)
        await #expect(throws: TagError(.badAnswer, "")) { try await rounds(65, kilobyte) }
    }

    @Test func `An answer without a status word is an error`() async {
        for answer in ["", "90"] {
            await #expect(throws: TagError(.badAnswer, "")) { try await Self.send(Self.read, ("00b0000002", answer)) }
        }
        #expect(ResponseAPDU([0x90]) == nil && ResponseAPDU([0x90, 0x00]) == ResponseAPDU(status: .success))
    }

    @Test func `A status word is a success, a warning or an error`() {
        for (word, isFine): (UInt16, Bool) in [
            (0x9000, true), (0x9001, false), (0x6100, true), (0x62FF, true), (0x63C0, true), (0x60FF, false),
            (0x6400, false), (0x6A82, false),
        ] { #expect(StatusWord(rawValue: word).isSuccessOrWarning == isFine) }
        let word = StatusWord(rawValue: 0x0102)
        #expect(word.high == 1 && word.low == 2 && word.description == "0102")
        #expect(StatusWord.endOfFile.rawValue == 0x6282 && StatusWord.securityStatusNotSatisfied.rawValue == 0x6982)
        #expect(StatusWord.fileNotFound.rawValue == 0x6A82 && StatusWord.wrongParameters.rawValue == 0x6B00)
    }

    @Test func `Lengths take one byte up to 255 and 256, and the extended form beyond`() throws {
        func head(_ data: Int, _ expected: Int?, extended: Bool = false) -> String {
            let command = CommandAPDU(
                1,
                2,
                3,
                4,
                data: [UInt8](repeating: 9, count: data),
                expectedLength: expected,
                usesExtendedLength: extended
            )
            #expect(
                CommandAPDU(command.bytes)?.data == command.data
                    && CommandAPDU(command.bytes)?.expectedLength == command.expectedLength
            )
            return hex(command.bytes.dropFirst(4).filter { $0 != 9 })
        }
        #expect(head(255, nil) == "ff" && head(255, 256) == "ff00" && head(0, 255) == "ff" && head(0, 1) == "01")
        #expect(
            head(256, nil) == "000100" && head(0, 257) == "000101" && head(255, 257) == "0000ff0101"
                && head(65535, 65536) == "00ffff0000"
        )
        #expect(head(0, 0) == "" && head(0, nil, extended: true) == "" && head(1, 1, extended: true) == "0000010001")
        #expect(CommandAPDU.isExtended([0, 0, 0, 0, 0, 1, 1]) && !CommandAPDU.isExtended([0, 0, 0, 0, 0, 1]))
        #expect(!CommandAPDU.isExtended([0, 0, 0, 0, 1, 1, 1]))
        for length in [1, 256, 65535] {
            let whole = CommandAPDU(
                0,
                0xD6,
                0,
                0,
                data: [UInt8](repeating: 9, count: length),
                expectedLength: 3,
                usesExtendedLength: true
            ).bytes
            for cut in length == 1 ? [1] : [1, 3] { #expect(CommandAPDU(Array(whole.dropLast(cut))) == nil) }
            #expect(CommandAPDU(Array(whole.dropLast(2)))?.expectedLength == nil && CommandAPDU(whole + [0]) == nil)
        }
        #expect(CommandAPDU([0, 0, 0, 0, 0, 0]) == nil && CommandAPDU([0, 0, 0, 0, 0, 0, 0, 1]) == nil)
    }

    @Test(.ownThreads) func `There is no command with more data, or with another Ne, than its lengths can say`() async {
        await #expect(processExitsWith: .failure) {
            _ = CommandAPDU(0, 0, 0, 0, data: [UInt8](repeating: 9, count: 65536))
        }
        await #expect(processExitsWith: .failure) {
            _ = CommandAPDU(0, 0, 0, 0, expectedLength: 65537)
        }
        await #expect(processExitsWith: .failure) {
            _ = CommandAPDU(0, 0, 0, 0, expectedLength: -1)
        }
    }

    @Test func `Files are selected and read by commands of the standard`() {
        #expect(hex(CommandAPDU.select(application: [0xA0, 1]).bytes) == "00a4040002a00100")
        #expect(hex(CommandAPDU.select(application: [0xA0, 1], expectsTemplate: false).bytes) == "00a4040002a001")
        #expect(hex(CommandAPDU.select(file: 0xE103).bytes) == "00a4000c02e103")
        #expect(hex(CommandAPDU.select(file: 0xE103, parameter2: 0).bytes) == "00a4000002e103")
        #expect(hex(CommandAPDU.readBinary(offset: 0x0102, count: 3).bytes) == "00b0010203")
        #expect(hex(CommandAPDU.updateBinary(offset: 0x7FFF, data: [9]).bytes) == "00d67fff0109")
        for (count, length) in [(0x7F, "7f"), (0x80, "8180"), (0xFF, "81ff"), (0x100, "820100")] {
            #expect(
                hex(CommandAPDU.berLength(count)) == length
                    && CommandAPDU.discretionaryOverhead(count) == 1 + length.count / 2
            )
            let data = [UInt8](repeating: 9, count: count)
            #expect(CommandAPDU.discretionaryData([0x53] + bytes(length) + data) == data)
            #expect(CommandAPDU.discretionaryData([0x53] + bytes(length) + data + [9]) == nil)
        }
        #expect(CommandAPDU.discretionaryData([0x53, 0x83, 0, 0, 1, 9]) == nil)
    }
}
