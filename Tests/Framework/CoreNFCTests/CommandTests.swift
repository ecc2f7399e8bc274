// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCSessions
import TagLink
import Testing

/// The commands of ISO 15693 and FeliCa, byte for byte, and the values that an app gets for their answers.
@Suite struct CommandTests {
    /// A command: what it sends, a tag's answer, and the app's result. `|` stands for the tag's UID or IDm.
    struct Row<Tag>: Sendable {
        var sent: String
        var answer: String
        var result: String
        var call: @Sendable (Tag) async throws -> String

        init<Value>(
            _ sent: String,
            _ answer: String,
            _ result: String,
            _ call: @escaping @Sendable (Tag) async throws -> Value
        ) {
            (self.sent, self.answer, self.result) = (sent, answer, result)
            self.call = { text(try await call($0)) }
        }
    }

    typealias ISO15693Row = Row<any NFCISO15693Tag>
    typealias FeliCaRow = Row<any NFCFeliCaTag>

    static let f = NFCISO15693RequestFlag.highDataRate
    static let option: NFCISO15693RequestFlag = [.highDataRate, .option]
    static let two = NSRange(location: 3, length: 2)
    static let far = NSRange(location: 0x0103, length: 2)
    static let pair = [Data([1, 2]), Data([3, 4])]
    static let d = Data([7, 8])

    // MARK: ISO/IEC 15693-3, clause 10

    static let iso15693: [ISO15693Row] = [
        Row("2202|", "", "") { try await $0.stayQuiet() },
        Row("2220|05", "0001020304", "01020304") { try await $0.readSingleBlock(requestFlags: f, blockNumber: 5) },
        Row("6220|05", "000101020304", "0101020304") {
            try await $0.readSingleBlock(requestFlags: option, blockNumber: 5)
        },
        // The select flag takes the place of the UID.
        Row("122005", "0009", "09") {
            try await $0.readSingleBlock(requestFlags: [.highDataRate, .address, .select], blockNumber: 5)
        },
        Row("2221|050708", "00", "") { try await $0.writeSingleBlock(requestFlags: f, blockNumber: 5, dataBlock: d) },
        Row("2222|05", "00", "") { try await $0.lockBlock(requestFlags: f, blockNumber: 5) },
        Row("2223|0301", "000a0b0c0d", "0a0b 0c0d") {
            try await $0.readMultipleBlocks(requestFlags: f, blockRange: two)
        },
        Row("6223|0301", "00010a0b000c0d", "010a0b 000c0d") {
            try await $0.readMultipleBlocks(requestFlags: option, blockRange: two)
        },
        Row("2224|030101020304", "00", "") {
            try await $0.writeMultipleBlocks(requestFlags: f, blockRange: two, dataBlocks: pair)
        },
        Row("2225|", "00", "") { try await $0.select(requestFlags: f) },
        Row("2225|", "00", "") { try await $0.select(requestFlags: [.highDataRate, .select]) },
        Row("2226|", "00", "") { try await $0.resetToReady(requestFlags: f) },
        Row("2227|09", "00", "") { try await $0.writeAFI(requestFlags: f, afi: 9) },
        Row("2228|", "00", "") { try await $0.lockAFI(requestFlags: f) },
        Row("2229|09", "00", "") { try await $0.writeDSFID(requestFlags: f, dsfid: 9) },
        Row("222a|", "00", "") { try await $0.lockDSFID(requestFlags: f) },
        Row("222b|", "000f06050403020107e001021b0309", "06050403020107e0 1 2 4 28 9") {
            try await $0.systemInfo(requestFlags: f)
        },
        Row("222c|0301", "000100", "1 0") {
            try await $0.getMultipleBlockSecurityStatus(requestFlags: f, blockRange: two)
        },
        Row("222d|0301", "000a0b0c0d", "0a0b 0c0d") {
            try await $0.fastReadMultipleBlocks(requestFlags: f, blockRange: two)
        },
        // The manufacturer's code of the UID follows a custom code, and the flags are the caller's.
        Row("02a1070708", "000908", "0908") {
            try await $0.customCommand(requestFlags: f, customCommandCode: 0xA1, customRequestParameters: d)
        },
        Row("52a107", "00", "") {
            try await $0.customCommand(
                requestFlags: [.highDataRate, .option, .select],
                customCommandCode: 0xA1,
                customRequestParameters: Data()
            )
        },
        Row("2230|0301", "000a", "0a") { try await $0.extendedReadSingleBlock(requestFlags: f, blockNumber: 0x0103) },
        Row("6230|0301", "00010a", "010a") {
            try await $0.extendedReadSingleBlock(requestFlags: option, blockNumber: 0x0103)
        },
        Row("2231|03010708", "00", "") {
            try await $0.extendedWriteSingleBlock(requestFlags: f, blockNumber: 0x0103, dataBlock: d)
        },
        Row("2232|0301", "00", "") { try await $0.extendedLockBlock(requestFlags: f, blockNumber: 0x0103) },
        Row("2233|03010100", "000a0b0c0d", "0a0b 0c0d") {
            try await $0.extendedReadMultipleBlocks(requestFlags: f, blockRange: far)
        },
        Row("2234|0301010001020304", "00", "") {
            try await $0.extendedWriteMultipleBlocks(requestFlags: f, blockRange: far, dataBlocks: pair)
        },
        Row("2235|040708", "0409", "4 09") {
            try await $0.authenticate(requestFlags: f, cryptoSuiteIdentifier: 4, message: d)
        },
        Row("2236|040708", "0409", "4 09") { try await $0.keyUpdate(requestFlags: f, keyIdentifier: 4, message: d) },
        // A challenge is for all tags, and none answers.
        Row("0239040708", "", "") {
            try await $0.challenge(requestFlags: [f, .address], cryptoSuiteIdentifier: 4, message: d)
        },
        Row("223a|", "0409", "4 09") { try await $0.readBuffer(requestFlags: f) },
        Row("223c|03010100", "000100", "1 0") {
            try await $0.extendedGetMultipleBlockSecurityStatus(requestFlags: f, blockRange: far)
        },
        Row("223d|03010100", "000a0b0c0d", "0a0b 0c0d") {
            try await $0.extendedFastReadMultipleBlocks(requestFlags: f, blockRange: far)
        },
        Row("22b50708", "4001", "64 01") { try await $0.sendRequest(requestFlags: 0x22, commandCode: 0xB5, data: d) },
        Row("02b5", "00", "0 ") { try await $0.sendRequest(requestFlags: 2, commandCode: 0xB5, data: nil) },
    ]

    @Test func `ISO 15693 commands: each sends its frame and returns the tag's answer`() async throws {
        for row in Self.iso15693 {
            let (channel, tag) = try await ScriptedTag.iso15693(row.answer)
            #expect(try await row.call(tag) == row.result, "\(row.sent)")
            #expect(channel.sent == [row.sent])
            let isAnswered = !row.answer.isEmpty
            #expect(channel.answerTimes.allSatisfy { ($0 > .milliseconds(1)) == isAnswered }, "\(row.sent)")
        }
    }

    @Test
    func `ISO 15693 commands: a tag's error is 102 with its code, a lost tag 100, a wrong length 102 with its key`()
        async throws
    {
        for row in Self.iso15693 where !row.answer.isEmpty {
            func error(_ answer: String) async throws -> NFCReaderError? {
                let (_, tag) = try await ScriptedTag.iso15693(answer)
                return await readerError { try await row.call(tag) }
            }
            let refused = try #require(await error("0110"), "\(row.sent)")
            #expect(refused.errorCode == 102)
            #expect((refused as NSError).userInfo[NFCISO15693TagResponseErrorKey] as? Int == 0x10)
            #expect(try await error("lost")?.errorCode == 100)
            #expect(try await error("none")?.errorCode == 100)
            var wrong = ["", "01"]
            if row.answer == "00", row.result.isEmpty, !row.sent.contains("a1") { wrong.append("0001") }
            for answer in wrong {
                let error = try await error(answer)
                #expect(error?.errorCode == 102, "\(row.sent) \(answer)")
                #expect(error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] as? Bool == true)
                #expect(error?.userInfo[NFCISO15693TagResponseErrorKey] == nil)
            }
        }
    }

    @Test
    func `ISO 15693 system information: a field that the tag leaves out is -1; a cut or longer answer is error 102`()
        async throws
    {
        let uid = "06050403020107e0"
        let rows: [(flags: String, fields: String, values: String)] = [
            ("0f", "01021b0304", "1 2 4 28 4"), ("00", "", "-1 -1 -1 -1 -1"), ("04", "ff1f", "-1 -1 32 256 -1"),
            ("09", "0708", "7 -1 -1 -1 8"),
            // The three bits above the block size are reserved.
            ("04", "00e3", "-1 -1 4 1 -1"),
        ]
        for row in rows {
            let whole = "00" + row.flags + uid + row.fields
            // The whole answer; then cut at each byte, and with one byte more.
            let cuts = stride(from: 2, to: whole.count, by: 2).map { String(whole.prefix($0)) } + [whole + "00"]
            let (_, tag) = try await ScriptedTag.iso15693(whole)
            #expect(text(try await tag.systemInfo(requestFlags: Self.f)) == "\(uid) \(row.values)")
            for cut in cuts {
                let (_, tag) = try await ScriptedTag.iso15693(cut)
                #expect(await code { try await tag.systemInfo(requestFlags: Self.f) } == 102, "\(cut)")
            }
        }
    }

    @Test func `ISO 15693 blocks: blocks of 1 to 32 bytes are accepted; other sizes, or too few blocks, are error 102`()
        async throws
    {
        for (size, error) in [(0, 102), (1, 0), (32, 0), (33, 102)] {
            let block = String(repeating: "5a", count: size)
            let (_, tag) = try await ScriptedTag.iso15693("00" + block, "0001" + block, "00" + block + block)
            let codes = [
                await code { try await tag.readSingleBlock(requestFlags: [], blockNumber: 0) },
                await code { try await tag.readSingleBlock(requestFlags: .option, blockNumber: 0) },
                await code { try await tag.readMultipleBlocks(requestFlags: [], blockRange: Self.two) },
            ]
            #expect(codes == [error, error, error], "\(size)")
        }
        for answer in ["0001", "00010203"] {
            let (_, tag) = try await ScriptedTag.iso15693(answer, answer)
            let codes = [
                await code { try await tag.readMultipleBlocks(requestFlags: [], blockRange: Self.two) },
                await code { try await tag.getMultipleBlockSecurityStatus(requestFlags: [], blockRange: Self.two) },
            ]
            #expect(codes == [102, 102], "\(answer)")
        }
    }

    @Test func `ISO 15693 identifier: begins with E0; icManufacturerCode and icSerialNumber are parts of it`()
        async throws
    {
        let (_, tag) = try await ScriptedTag.iso15693()
        #expect(tag.identifier.hexText() == "e007010203040506")
        #expect(tag.icManufacturerCode == 7 && tag.icSerialNumber.hexText() == "010203040506")
    }

    // MARK: FeliCa Card User's Manual, 4.4

    static let node = Data([0x0F, 0x09])
    static let blockList = [Data([0x80, 0]), Data([0x00, 1, 0])]
    static let zeros = String(repeating: "00", count: 16)

    static let feliCa: [FeliCaRow] = [
        Row("00fe0f0000", "01|1112131415161718", "1112131415161718 ") {
            try await $0.polling(systemCode: Data([0xFE, 0x0F]), requestCode: .noRequest, timeSlot: .max1)
        },
        Row("02|020f090101", "03|020100ffff", "0100 ffff") {
            try await $0.requestService(nodeCodeList: [node, Data([1, 1])])
        },
        Row("04|", "05|03", "3") { try await $0.requestResponse() },
        Row("06|010f09028000000100", "07|000002\(zeros)\(zeros)", "0 0 \(zeros) \(zeros)") {
            try await $0.readWithoutEncryption(serviceCodeList: [node], blockList: blockList)
        },
        // A card that refuses answers with flags, which are no error.
        Row("06|010f09028000000100", "07|ffa6", "255 166 ") {
            try await $0.readWithoutEncryption(serviceCodeList: [node], blockList: blockList)
        },
        Row("08|010f09018000\(zeros)", "09|0107", "1 7") {
            try await $0.writeWithoutEncryption(
                serviceCodeList: [node],
                blockList: [Data([0x80, 0])],
                blockData: [Data(count: 16)]
            )
        },
        Row("0c|", "0d|020003fe00", "0003 fe00") { try await $0.requestSystemCode() },
        Row("0c|", "0d|00", "") { try await $0.requestSystemCode() },
        Row("32|010f09", "33|00004f010102", "0 0 79 0102 ") { try await $0.requestServiceV2(nodeCodeList: [node]) },
        Row("32|010f09", "33|0007410101020304", "0 7 65 0102 0304") {
            try await $0.requestServiceV2(nodeCodeList: [node])
        },
        Row("32|010f09", "33|ffa1", "255 161 79  ") { try await $0.requestServiceV2(nodeCodeList: [node]) },
        Row("3c|0000", "3d|00070001050220012002", "0 7 0105 20012002") { try await $0.requestSpecificationVersion() },
        Row("3c|0000", "3d|ffa1", "255 161  ") { try await $0.requestSpecificationVersion() },
        Row("3e|0000", "3f|0107", "1 7") { try await $0.resetMode() },
    ]

    @Test func `FeliCa commands: each sends its frame and returns the card's answer`() async throws {
        for row in Self.feliCa {
            let (channel, tag) = try await ScriptedTag.feliCa(row.answer)
            #expect(try await row.call(tag) == row.result, "\(row.sent)")
            #expect(channel.sent == [row.sent])
        }
    }

    @Test
    func `FeliCa answer: cut, too long, with another IDm or another response code is error 102; a lost card is 100`()
        async throws
    {
        for row in Self.feliCa {
            let whole = row.answer.replacing("|", with: TestTag.idm.hexText())
            var others = stride(from: 0, to: whole.count, by: 2).map { (String(whole.prefix($0)), true) }
            // What follows the flags of a refusal is not looked at.
            if !row.result.hasPrefix("255 161") { others.append((whole + "00", true)) }
            others.append(("0a" + whole.dropFirst(2), false))
            if !row.sent.hasPrefix("00") { others.append((whole.prefix(2) + "ff" + whole.dropFirst(4), false)) }
            for (answer, isLength) in others {
                let (_, tag) = try await ScriptedTag.feliCa(answer)
                let error = await readerError { try await row.call(tag) }
                #expect(error?.errorCode == 102, "\(row.sent) \(answer)")
                let hasKey = error?.userInfo[NFCTagResponseUnexpectedLengthErrorKey] != nil
                #expect(hasKey == isLength, "\(row.sent) \(answer)")
            }
            let (_, tag) = try await ScriptedTag.feliCa("lost")
            #expect(await code { try await row.call(tag) } == 100)
        }
    }

    @Test func `FeliCa answers: another number of nodes or blocks than asked for, or an unknown cipher, is error 102`()
        async throws
    {
        let nodes = [Self.node, Self.node]
        for count in [0, 1, 3] {
            let list = String(repeating: "0102", count: count)
            let (_, tag) = try await ScriptedTag.feliCa(
                "03|0\(count)" + list,
                "33|00004f0\(count)" + list,
                "33|0000410\(count)" + list + list,
                "33|0000420\(count)" + list,
                "07|00000\(count)" + String(repeating: "5a", count: 16 * count)
            )
            #expect(await code { try await tag.requestService(nodeCodeList: nodes) } == 102)
            for _ in 0..<3 { #expect(await code { try await tag.requestServiceV2(nodeCodeList: nodes) } == 102) }
            let read = await code {
                try await tag.readWithoutEncryption(serviceCodeList: [Self.node], blockList: Self.blockList)
            }
            #expect(read == 102)
        }
    }

    @Test func `FeliCa raw command: sent as given, and the answer begins with its length`() async throws {
        let (channel, tag) = try await ScriptedTag.feliCa("05|00")
        #expect(try await tag.sendFeliCaCommand(commandPacket: Data([4, 1])).hexText() == "0b05012e4ce19c5b123400")
        #expect(channel.sent == ["0401"])
    }

    @Test func `FeliCa raw command with another IDm than currentIDm: error 2, and nothing is sent`() async throws {
        let (channel, tag) = try await ScriptedTag.feliCa("05|00")
        #expect(await code { try await tag.sendFeliCaCommand(commandPacket: Data(bytes("040909090909090909"))) } == 2)
        #expect(channel.sent.isEmpty)
        _ = try await tag.sendFeliCaCommand(commandPacket: [4] + tag.currentIDm)
        #expect(channel.sent == ["04|"])
    }

    // MARK: FeliCa polling

    @Test func `FeliCa polling: the request code and the time slots are in the command`() async throws {
        let rows: [(NFCFeliCaPollingRequestCode, NFCFeliCaPollingTimeSlot, String)] = [
            (.noRequest, .max1, "0000"), (.systemCode, .max2, "0101"), (.communicationPerformance, .max4, "0203"),
            (.noRequest, .max8, "0007"), (.systemCode, .max16, "010f"),
        ]
        for (request, slots, parameters) in rows {
            let (channel, tag) = try await ScriptedTag.feliCa("01|1112131415161718fe00")
            let answer = try await tag.polling(systemCode: Data([0xFE, 0]), requestCode: request, timeSlot: slots)
            #expect(text(answer) == "1112131415161718 fe00" && channel.sent == ["00fe00" + parameters])
        }
    }

    @Test func `FeliCa polling: later commands use the IDm of the answer; without an answer currentIDm is empty`()
        async throws
    {
        let other = "0909090909090909"
        let (channel, tag) = try await ScriptedTag.feliCa(
            "01\(other)1112131415161718",
            "05\(other)02",
            "05|02",
            "none",
            "01|1112131415161718",
            "05|03"
        )
        func poll(_ system: String) async -> String {
            let system = Data(bytes(system))
            let error = await code {
                try await tag.polling(systemCode: system, requestCode: .noRequest, timeSlot: .max1)
            }
            return "\(error) \(tag.currentSystemCode.hexText()) \(tag.currentIDm.hexText())"
        }
        #expect(await poll("fe00") == "0 fe00 \(other)")
        #expect(try await tag.requestResponse() == 2)
        // The answer of the system before.
        #expect(await code { try await tag.requestResponse() as Int } == 102)
        #expect(await poll("12fc") == "102 fe00 ")
        #expect(await poll("0003") == "0 0003 012e4ce19c5b1234")
        #expect(try await tag.requestResponse() == 3)
        #expect(channel.sent.filter { $0.hasPrefix("04") } == ["04\(other)", "04\(other)", "04|"])
    }

    @Test func `FeliCa polling: a wildcard, a wrong length and a system that the app does not list send nothing`()
        async throws
    {
        for (system, expected) in [
            ("ff00", 3), ("00ff", 3), ("00", 4), ("", 4), ("000300", 4), ("88b4", 2), ("fe00", 0),
        ] {
            let (channel, tag) = try await ScriptedTag.feliCa("01|1112131415161718", app: .app(systems: ["fe00"]))
            let result = await code {
                try await tag.polling(systemCode: Data(bytes(system)), requestCode: .noRequest, timeSlot: .max1)
            }
            #expect(result == expected, "\(system)")
            #expect(channel.sent.isEmpty == (expected != 0) && tag.currentIDm == Data(TestTag.idm))
        }
    }

    // MARK: MIFARE

    @Test func `MIFARE command: sent as given, and the answer returned as it is`() async throws {
        let (channel, tag) = try await ScriptedTag.miFare("0a", "lost")
        #expect(try await tag.send("a204") == "0a")
        #expect(await code { try await tag.send("3004") } == 100)
        #expect(channel.sent == ["a204", "3004"])
    }
}

// MARK: The values in words

/// A value of a command in words: bytes in hex, numbers in decimal, and the parts of a list or a result one after the
/// other.
@Sendable func text(_ value: Any) -> String {
    switch value {
    case let data as Data: data.hexText()
    case let number as any BinaryInteger: "\(number)"
    case let number as NSNumber: "\(number)"
    case let value as any RawRepresentable: text(value.rawValue)
    default: Mirror(reflecting: value).children.map { text($0.value) }.joined(separator: " ")
    }
}
