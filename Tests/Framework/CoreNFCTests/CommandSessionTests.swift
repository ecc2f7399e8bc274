// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import TagLink
import Testing
import VirtualTags

/// Commands in a session for tags: what one changes for the next.
@Suite(.timeLimit(.minutes(1))) struct CommandSessionTests {
    private static let f = NFCISO15693RequestFlag.highDataRate

    // MARK: ISO 15693

    @Test func `ISO 15693 Select flag: answered between Select and Reset to Ready only; addressed commands always`()
        async throws
    {
        try await withTags(VirtualType5Tag(.icodeSLIX), polling: .iso15693) { _, scene in
            let tag = try scene.iso15693
            func read(_ flags: NFCISO15693RequestFlag) async -> Int {
                await code { try await tag.readSingleBlock(requestFlags: flags, blockNumber: 0) }
            }
            let selected: NFCISO15693RequestFlag = [.highDataRate, .select]
            try await tag.select(requestFlags: Self.f)
            #expect(await read(selected) == 0)
            #expect(await read(Self.f) == 0)
            try await tag.resetToReady(requestFlags: Self.f)
            try await tag.stayQuiet()
            #expect(await read(Self.f) == 0)
            #expect(tag.isAvailable)
            // It does not answer, and a phone loses it.
            #expect(await read(selected) == 100)
            #expect(!tag.isAvailable)
        }
    }

    @Test func `ISO 15693: a locked block is not written, and the tag's own error is in the user info`() async throws {
        try await withTags(VirtualType5Tag(.icodeSLIX), polling: .iso15693) { _, scene in
            let tag = try scene.iso15693
            func write(_ block: UInt8, _ data: String) async -> NFCReaderError? {
                let data = Data(bytes(data))
                return await readerError {
                    try await tag.writeSingleBlock(requestFlags: Self.f, blockNumber: block, dataBlock: data)
                }
            }
            #expect(await write(10, "01020304") == nil)
            try await tag.lockBlock(requestFlags: Self.f, blockNumber: 10)
            for error in [await write(10, "05060708"), await write(200, "01020304")] {
                #expect(error?.errorCode == 102 && error?.userInfo[NFCISO15693TagResponseErrorKey] is Int)
                // The text is that of Stack Overflow 78128475.
                #expect(error?.localizedDescription == "Tag response error")
            }
            // The option flag asks for the security status of each block.
            let range = NSRange(location: 9, length: 3)
            let blocks = try await tag.readMultipleBlocks(requestFlags: [Self.f, .option], blockRange: range)
            #expect(text(blocks) == "0000000000 0101020304 0000000000" && tag.isAvailable)
        }
    }

    // MARK: FeliCa

    @Test
    func `FeliCa polling of a system: later commands use its IDm, until restartPolling() finds the first system again`()
        async throws
    {
        let app = AppConfiguration.app(systems: ["0003", "FE00", "12FC"])
        try await withTags(VirtualType3Tag(TestTag.twoSystems()), app: app, polling: .iso18092) { _, scene in
            let tag = try scene.feliCa
            func state(_ tag: any NFCFeliCaTag) -> String {
                "\(tag.currentSystemCode.hexText()) \(tag.currentIDm.hexText())"
            }
            #expect(state(tag) == "0003 012e4ce19c5b1234")
            // The card does not have the last one, and the app does not list the one before.
            let rows: [(String, NFCFeliCaPollingRequestCode, String)] = [
                ("fe00", .systemCode, "fe00"), ("0003", .communicationPerformance, "0083"), ("fe00", .noRequest, ""),
                ("88b4", .noRequest, "error 2"), ("12fc", .noRequest, "error 102"),
            ]
            for (system, request, result) in rows {
                let system = Data(bytes(system))
                do {
                    let answer = try await tag.polling(systemCode: system, requestCode: request, timeSlot: .max4)
                    #expect(answer.1.hexText() == result)
                    _ = try await tag.requestResponse() as Int
                } catch {
                    #expect("error \(code(of: error))" == result)
                }
                if result == "fe00" { #expect(state(tag) == "fe00 112e4ce19c5b1234") }
            }
            #expect(tag.currentIDm.isEmpty && tag.isAvailable)
            scene.session.restartPolling()
            let again = try #require(await scene.delegate.nextTags()?.first).feliCa
            #expect(state(again) == "0003 012e4ce19c5b1234")
        }
    }
}
