// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `The NDEF application of a generic Type 4 tag` {
    private static let selectVersion2 = "00 a4 04 00 07 d2 76 00 00 85 01 01 00"

    private func run(_ application: NDEFApplication, _ commands: [String]) -> [String] {
        var card = ApplicationCard([application])
        return commands.map { hexText(card.process(hex($0), tear: nil).bytes) }
    }

    @Test func `A reader's way from SELECT to the message`() {
        var application = NDEFApplication(size: 64)
        application.files[0xE104]?.replaceSubrange(0..<5, with: hex("00 03 d0 00 00"))
        let answers = run(
            application,
            [
                Self.selectVersion2, "00 a4 00 0c 02 e1 03", "00 b0 00 00 0f", "00 a4 00 0c 02 e1 04", "00 b0 00 00 02",
                "00 b0 00 02 03",
            ]
        )
        #expect(
            answers == [
                "90 00", "90 00", "00 0f 20 00 ff 00 ff 04 06 e1 04 00 40 00 00 90 00", "90 00", "00 03 90 00",
                "d0 00 00 90 00",
            ]
        )
    }

    @Test(arguments: [(NDEFApplication.Mapping.version1, "00"), (.version2, "01"), (.version3, "01")])
    func `The application's name ends in the mapping's byte`(mapping: NDEFApplication.Mapping, byte: String) {
        let other = byte == "00" ? "01" : "00"
        let answers = run(
            NDEFApplication(mapping: mapping),
            ["00 a4 04 00 07 d2 76 00 00 85 01 \(other)", "00 a4 04 00 07 d2 76 00 00 85 01 \(byte)"]
        )
        #expect(answers == ["6a 82", "90 00"])
    }

    @Test(arguments: [
        ("00 a4 00 0c 02 e1 05", "6a 82"), ("00 a4 00 0c 01 e1", "67 00"), ("00 a4 08 0c 02 e1 04", "6a 86"),
        ("00 a4 00 03 02 e1 04", "6a 86"), ("00 b0 00 00 10", "67 00"), ("00 b0 00 00 0f", ""),
        ("00 b0 00 40 01", "6b 00"), ("00 b0 80 00 01", "6a 86"), ("00 d6 00 00 05 01 02 03 04 05", "67 00"),
        ("00 d6 00 40 01 00", "6b 00"), ("00 d6 00 3e 04 01 02 03 04", "6a 84"), ("00 c0 00 00", "6d 00"),
        ("80 b0 00 00 01", "6e 00"), ("00 b1 00 00 05 54 03 00 00 00 04", "6d 00"), ("00 b0 00 00", "67 00"),
    ])
    func `Refusals of an application with MLe 15 and MLc 4`(command: String, status: String) {
        let application = NDEFApplication(size: 64, maximumRead: 15, maximumWrite: 4)
        let answer = run(application, [Self.selectVersion2, "00 a4 00 0c 02 e1 04", command])[2]
        #expect(status.isEmpty ? answer.hasSuffix("90 00") : answer == status)
    }

    @Test func `Nothing is read before a file is selected, nor before the application is`() {
        #expect(
            run(NDEFApplication(), ["00 b0 00 00 02", Self.selectVersion2, "00 b0 00 00 02"]) == [
                "69 85", "90 00", "69 86",
            ]
        )
    }

    @Test func `Le of 00 reads what there is, and a number beyond the end gives 6282`() {
        let application = NDEFApplication(size: 10)
        let answers = run(
            application,
            [Self.selectVersion2, "00 a4 00 0c 02 e1 04", "00 b0 00 06 00", "00 b0 00 06 05", "00 b0 00 06 04"]
        )
        #expect(answers.suffix(3) == ["00 00 00 00 90 00", "00 00 00 00 62 82", "00 00 00 00 90 00"])
    }

    @Test(arguments: [
        ("00 b0 00 06 00", "00 00 00 00 90 00"), ("00 b0 00 06 00 00 00", "00 00 00 00 90 00"),
        ("00 b0 00 06 00 01 00", "00 00 00 00 62 82"), ("00 b1 00 00 05 54 03 00 00 06 00", "53 04 00 00 00 00 90 00"),
        ("00 b1 00 00 00 00 05 54 03 00 00 06 00 00", "53 04 00 00 00 00 90 00"),
        ("00 b1 00 00 00 00 05 54 03 00 00 06 01 00", "53 04 00 00 00 00 62 82"),
    ]) func `Le of zeros alone reads what there is, also with a data object`(command: String, expected: String) {
        let application = NDEFApplication(mapping: .version3, size: 10, maximumRead: 0x1000)
        #expect(run(application, [Self.selectVersion2, "00 a4 00 0c 02 e1 04", command])[2] == expected)
    }

    @Test func `All bytes with their data object are no more than MLe`() {
        let application = NDEFApplication(mapping: .version3, size: 64, maximumRead: 15)
        let answers = run(
            application,
            [
                Self.selectVersion2, "00 a4 00 0c 02 e1 04", "00 b1 00 00 05 54 03 00 00 00 00",
                "00 b1 00 00 00 00 05 54 03 00 00 00 00 00",
            ]
        )
        let expected = "53 0d" + String(repeating: " 00", count: 13) + " 90 00"
        #expect(answers.suffix(2) == [expected, expected])
    }

    @Test func `Access rights of the capability container are enforced as soon as they are written`() {
        let answers = run(
            NDEFApplication(size: 16),
            [
                Self.selectVersion2, "00 a4 00 0c 02 e1 03", "00 d6 00 0e 01 ff", "00 a4 00 0c 02 e1 04",
                "00 d6 00 00 01 01", "00 b0 00 00 01",
            ]
        )
        #expect(answers.suffix(4) == ["90 00", "90 00", "69 82", "00 90 00"])
        var hidden = NDEFApplication(size: 16)
        hidden.files[0xE103]?[13] = 0x80
        #expect(run(hidden, [Self.selectVersion2, "00 a4 00 0c 02 e1 04", "00 b0 00 00 01"])[2] == "69 82")
        hidden.isCapabilityContainerWritable = false
        #expect(run(hidden, [Self.selectVersion2, "00 a4 00 0c 02 e1 03", "00 d6 00 0e 01 ff"])[2] == "69 82")
    }

    @Test(arguments: [("17", "69 82", "90 00"), ("0f", "00 90 00", "69 82"), ("20", "69 82", "90 00")])
    func `A proprietary file has the rights that the container names, as far as it is long`(
        length: String,
        read: String,
        write: String
    ) {
        let zeros = [UInt8](repeating: 0, count: 16)
        let container = hex("00 \(length) 20 00 ff 00 ff 04 06 e1 04 00 10 00 00 05 06 e1 05 00 10 80 00")
        let answers = run(
            NDEFApplication(files: [0xE103: container, 0xE104: zeros, 0xE105: zeros]),
            [
                Self.selectVersion2, "00 a4 00 0c 02 e1 05", "00 b0 00 00 01", "00 d6 00 00 01 77",
                "00 a4 00 0c 02 e1 04", "00 b0 00 00 01", "00 d6 00 00 01 77",
            ]
        )
        #expect(answers == ["90 00", "90 00", read, write, "90 00", "00 90 00", "90 00"])
    }

    @Test func `Mapping 3 reads and writes beyond 7FFF with offset data objects`() {
        let answers = run(
            NDEFApplication(mapping: .version3, size: 0x1_0000),
            [
                Self.selectVersion2, "00 a4 00 0c 02 e1 04", "00 d7 00 00 0a 54 03 00 90 00 53 03 01 02 03",
                "00 b1 00 00 05 54 03 00 90 00 05", "00 b1 00 00 05 54 03 01 00 00 05", "00 b1 00 00 02 54 03 05",
                "00 d7 00 00 07 54 03 00 90 00 53 00", "00 d7 00 00 09 54 03 00 90 00 53 03 01 02",
            ]
        )
        #expect(answers.suffix(6) == ["90 00", "53 03 01 02 03 90 00", "6b 00", "6a 80", "6a 80", "6a 80"])
    }

    @Test func `A torn update leaves the old bytes, the new ones, or a mixture after whole units`() throws {
        for (tear, expected) in [(TornWrite.old, UInt8(0)), (.new, 0xFF)] {
            let bytes = try tornFile(tear)
            #expect(bytes == Array(repeating: expected, count: 200))
        }
        for seed in UInt64(0)..<32 {
            let file = try tornFile(.mixed(seed: seed))
            let whole = file.prefix { $0 == 0xFF }.count
            let rest = file.dropFirst(whole / 64 * 64 + 64)
            #expect(rest.allSatisfy { $0 == 0 })
        }
    }

    private func tornFile(_ tear: TornWrite) throws -> [UInt8] {
        var application = NDEFApplication(size: 200)
        _ = application.process(try #require(CardCommand(hex("00 a4 00 0c 02 e1 04"))), tear: nil)
        let data = String(repeating: "ff", count: 200)
        let command = try #require(CardCommand(hex("00 d6 00 00 c8" + data)))
        _ = application.select(command)
        _ = application.process(try #require(CardCommand(hex("00 a4 00 0c 02 e1 04"))), tear: nil)
        let answer = application.process(command, tear: tear)
        #expect(answer.isWrite)
        return try #require(application.files[0xE104])
    }

    @Test func `Faults reach the card: refusals as statuses, power cuts as torn memory`() async throws {
        let tag = VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 16)]))
        let script = try LinkScript(.nfcA, tag)
        await script.activateA()
        _ = await script.send("e0 80")
        _ = await script.send("02 \(Self.selectVersion2)")
        _ = await script.send("03 00 a4 00 0c 02 e1 04")
        script.field.arm(FaultPlan([Fault(.refusal(0), at: .write(1)), Fault(.powerCut(.new), at: .write(2))]))
        #expect(await script.send("02 00 b0 00 00 02") == "02 00 00 90 00")
        #expect(await script.send("03 00 d6 00 00 02 12 34") == "03 65 81")
        #expect(await script.send("02 00 b0 00 00 02") == "02 00 00 90 00")
        #expect(await script.send("03 00 d6 00 00 02 12 34") == "timeout")
        let card = try #require(tag.card as? ApplicationCard)
        let application = try #require(card.applications.first as? NDEFApplication)
        #expect(application.files[0xE104]?.prefix(2) == [0x12, 0x34])
    }

    @Test func `Extended lengths are understood, and bytes that are no APDU are not`() {
        #expect(CardCommand(hex("00 b0 00 00 00 00 00"))?.expectedLength == 65536)
        #expect(CardCommand(hex("00 b0 00 00 00 01 00"))?.expectedLength == 256)
        let both = CardCommand(hex("00 d6 00 00 00 00 02 aa bb 01 00"))
        #expect(both?.data == hex("aa bb"))
        #expect(both?.expectedLength == 256)
        for text in [
            "", "00 b0 00", "00 d6 00 00 02 aa", "00 d6 00 00 02 aa bb 00 00", "00 d6 00 00 00 00",
            "00 d6 00 00 00 00 02 aa",
        ] {
            #expect(CardCommand(hex(text)) == nil, "\(text)")
        }
    }

    @Test func `Le of zero is all up to MLe, in one byte and in three, and 256 in three is a number`() {
        let answers = run(
            NDEFApplication(size: 64, maximumRead: 15),
            [
                Self.selectVersion2, "00 a4 00 0c 02 e1 04", "00 b0 00 00 00", "00 b0 00 00 00 00 00",
                "00 b0 00 00 00 00 0f", "00 b0 00 00 00 01 00",
            ]
        )
        let all = String(repeating: "00 ", count: 15) + "90 00"
        #expect(answers.suffix(4) == [all, all, all, "67 00"])
    }

    @Test func `A SELECT that fails leaves the application and the file selected`() {
        let answers = run(
            NDEFApplication(),
            [
                Self.selectVersion2, "00 a4 00 0c 02 e1 03", "00 a4 04 00 07 d2 76 00 00 85 01 00", "00 b0 00 00 02",
                "00 a4 04 00 04 d2 76 00 00", "00 a4 04 00 11 " + String(repeating: "00", count: 17), "00 b0 00 00 02",
                "00 a4 04 01 07 d2 76 00 00 85 01 01", "00 a4 00 0c 02 e1 05", "00 b0 00 00 02",
            ]
        )
        let read = "00 0f 90 00"
        #expect(answers == ["90 00", "90 00", "6a 82", read, "67 00", "67 00", read, "6a 86", "6a 82", read])
    }

    @Test(arguments: [
        ("02", "", 0), ("03", "53 01", 1), ("81", "53 7f", 127), ("82", "53 7f", 127), ("83", "53 81 80", 128),
        ("ff", "53 81 fc", 252), ("01 02", "53 81 ff", 255), ("01 03", "53 81 ff", 255), ("01 04", "53 82 01 00", 256),
    ]) func `Le counts the header of the data object in mapping 3`(length: String, header: String, count: Int) {
        let application = NDEFApplication(mapping: .version3, size: 1000, maximumRead: 0x1000)
        let field = hex(length).count == 1 ? "05" : "00 00 05"
        let answer = run(
            application,
            [Self.selectVersion2, "00 a4 00 0c 02 e1 04", "00 b1 00 00 \(field) 54 03 00 00 00 \(length)"]
        )[2]
        let expected = header.isEmpty ? "67 00" : header + String(repeating: " 00", count: count) + " 90 00"
        #expect(answer == expected)
    }

    @Test(arguments: [
        ("09", "53 81 01 77", "90 00"), ("0a", "53 82 00 01 77", "90 00"), ("09", "53 80 01 77", "6a 80"),
        ("0b", "53 83 00 00 01 77", "6a 80"), ("08", "54 01 77", "6a 80"),
    ]) func `The length of data in mapping 3 has up to three bytes`(length: String, data: String, status: String) {
        let answers = run(
            NDEFApplication(mapping: .version3, size: 64),
            [
                Self.selectVersion2, "00 a4 00 0c 02 e1 04", "00 d7 00 00 \(length) 54 03 00 00 05 \(data)",
                "00 b1 00 00 05 54 03 00 00 05 03",
            ]
        )
        #expect(answers.suffix(2) == [status, status == "90 00" ? "53 01 77 90 00" : "53 01 00 90 00"])
    }

    @Test(arguments: [(1, 5), (64, 5), (65, 10), (128, 10), (129, 15)])
    func `Each unit of 64 bytes takes its time`(count: Int, milliseconds: Int64) {
        var card = ApplicationCard([NDEFApplication(size: 200)])
        for command in [Self.selectVersion2, "00 a4 00 0c 02 e1 04"] { _ = card.process(hex(command), tear: nil) }
        let data = [UInt8](repeating: 1, count: count)
        let answer = card.process(hex("00 d6 00 00") + [UInt8(count)] + data, tear: nil)
        #expect(answer.bytes == [0x90, 0x00])
        #expect(answer.workTime == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        ("00 d6 00 00", "67 00"), ("00 d6 80 00 01 00", "6a 86"), ("00 b1 00 01 05 54 03 00 00 00 04", "6a 86"),
        ("00 b1 01 00 05 54 03 00 00 00 04", "6a 86"), ("00 d7 00 01 08 54 03 00 00 00 53 01 77", "6a 86"),
        ("00 d7 01 00 08 54 03 00 00 00 53 01 77", "6a 86"), ("00 d7 00 00 08 54 03 00 00 00 53 01 77", "90 00"),
    ])
    func `Places of mapping 3 are in the data or in P1 and P2, never in both`(command: String, status: String) {
        let application = NDEFApplication(mapping: .version3, size: 64)
        #expect(run(application, [Self.selectVersion2, "00 a4 00 0c 02 e1 04", command])[2] == status)
    }

    @Test func `The write access of mapping 3 is in byte 16`() {
        let answers = run(
            NDEFApplication(mapping: .version3, size: 16),
            [
                Self.selectVersion2, "00 a4 00 0c 02 e1 03", "00 d6 00 10 01 ff", "00 a4 00 0c 02 e1 04",
                "00 d6 00 00 01 01", "00 d7 00 00 08 54 03 00 00 00 53 01 77", "00 b0 00 00 01",
                "00 b1 00 00 05 54 03 00 00 00 03",
            ]
        )
        #expect(answers.suffix(5) == ["90 00", "69 82", "69 82", "00 90 00", "53 01 00 90 00"])
    }
}
