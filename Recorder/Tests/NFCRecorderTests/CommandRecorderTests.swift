// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation
import NFCProbe
import NFCRecorder
import NFCTestKit
import TagTrace
import Testing

@Suite(.timeLimit(.minutes(5))) struct `The recording of an app's commands` {
    /// A product, and an app's commands to it. Returns the answers.
    struct Flow: Sendable, CustomTestStringConvertible {
        var product: String
        var options: NFCTagReaderSession.PollingOption
        var app: AppProperties?
        var commands: @MainActor @Sendable (CommandRecorder, NFCTag) async throws -> [Data]
        var testDescription: String { product }
    }

    static func listing(_ application: String) -> AppProperties {
        let key = "com.apple.developer.nfc.readersession.iso7816.select-identifiers"
        return AppProperties(infoPlist: ["NFCReaderUsageDescription": "To read your tickets.", key: [application]])
    }

    static let flows = [
        Flow(product: "NTAG215", options: .iso14443) { recorder, tag in
            guard case .miFare(let tag) = tag else { return [] }
            let recorded = recorder.recording(tag)
            let commands: [[UInt8]] = [
                [0x60], [0x1B, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 4], [0xA2, 5, 1, 2, 3, 4], [0x30, 5],
            ]
            var answers: [Data] = []
            for command in commands {
                answers.append(try await recorded.sendMiFareCommand(commandPacket: Data(command)))
            }
            return answers
        },
        Flow(product: "MIFARE DESFire EV1 2K", options: .iso14443) { recorder, tag in
            guard case .miFare(let tag) = tag else { return [] }
            let recorded = recorder.recording(tag)
            let apdu = try #require(NFCISO7816APDU(data: Data([0x90, 0x60, 0, 0, 0])))
            let (data, sw1, sw2) = try await recorded.sendMiFareISO7816Command(apdu)
            return [data, Data([sw1, sw2])]
        },
        Flow(product: "generic Type 4", options: .iso14443, app: listing("D2760000850101")) { recorder, tag in
            guard case .iso7816(let tag) = tag else { return [] }
            let recorded = recorder.recording(tag)
            // SELECT of the capability container.
            let apdu = try #require(NFCISO7816APDU(data: Data([0, 0xA4, 0, 0x0C, 2, 0xE1, 3])))
            let (data, sw1, sw2) = try await recorded.sendCommand(apdu: apdu)
            return [data, Data([sw1, sw2])]
        },
        Flow(product: "generic Type 3", options: .iso18092) { recorder, tag in
            guard case .feliCa(let tag) = tag else { return [] }
            let recorded = recorder.recording(tag)
            let (status, _, blocks) = try await recorded.readWithoutEncryption(
                serviceCodeList: [Data([0x0B, 0])],
                blockList: [Data([0x80, 0]), Data([0x80, 1])]
            )
            // REQUEST RESPONSE.
            let mode = try await recorded.sendFeliCaCommand(commandPacket: Data([0x04]) + tag.currentIDm)
            return [Data([UInt8(status)]), mode] + blocks
        },
        Flow(product: "ICODE SLIX2", options: .iso15693) { recorder, tag in
            guard case .iso15693(let tag) = tag else { return [] }
            let recorded = recorder.recording(tag)
            let flags: NFCISO15693RequestFlag = [.highDataRate]
            try await recorded.writeSingleBlock(requestFlags: flags, blockNumber: 7, dataBlock: Data([1, 2, 3, 4]))
            let block = try await recorded.readSingleBlock(requestFlags: flags, blockNumber: 7)
            // GET RANDOM NUMBER, and READ SINGLE BLOCK without a UID.
            let random = try await recorded.customCommand(
                requestFlags: flags,
                customCommandCode: 0xB2,
                customRequestParameters: Data()
            )
            let (_, raw) = try await recorded.sendRequest(requestFlags: 0x02, commandCode: 0x20, data: Data([7]))
            return [block, random, raw ?? Data()]
        },
    ]

    @Test(arguments: flows) func `The same commands get the recorded answers in a replay`(flow: Flow) async throws {
        @Sendable func run(reader: TestReader) async throws -> (answers: [Data], file: Data) {
            let tag = TagSpec.product(flow.product, holding: .text("Day pass"))
            return try await withField(tag, app: flow.app, reader: reader) { @MainActor field in
                let scan = try TagScan(flow.options, message: "Hold the tag near the phone.")
                let recorder = CommandRecorder(flow.options, systemCodes: flow.app == nil ? ["ffff"] : [])
                let answers = try await flow.commands(recorder, try await scan.next())
                scan.end()
                return (answers, recorder.file)
            }
        }
        let (answers, file) = try await run(reader: .virtual)
        #expect(!answers.isEmpty)
        // No password is in the file.
        #expect(!String(decoding: file, as: UTF8.self).contains("1bffffffff"))
        let replayed = try await run(reader: .recording(try Recording(parsing: file)))
        #expect(replayed.answers == answers)
    }
}
