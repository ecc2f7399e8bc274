// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing
import VirtualTags

@testable import SourceCompatibilitySwift5  // the clients' types are internal, as in an app
@testable import SourceCompatibilitySwift6  // the clients' types are internal, as in an app

@Suite(.timeLimit(.minutes(5))) struct VirtualTagTests {
    /// The configuration of an app that lists everything that its clients use.
    static let configuration = AppConfiguration(
        infoPlist: AppConfiguration.PropertyFile(
            path: "Info.plist",
            values: [
                "NFCReaderUsageDescription": ["Why."],
                "com.apple.developer.nfc.readersession.felica.systemcodes": ["0003"],
                "com.apple.developer.nfc.readersession.iso7816.select-identifiers": ["A0000002471001"],
            ]
        )
    )

    @Test func `Page reader: reads an NTAG to its end`() async throws {
        try await withVirtualField { field in
            field.tags.bring(VirtualTagExamples.ntag213)
            let (ended, end) = AsyncStream<Int>.makeStream()
            let reader = NTAGPageReader()
            reader.onEnd = { reader in
                end.yield(reader.pages.count)
                end.finish()
            }
            reader.scan()
            for await pages in ended { #expect(pages == 16) }
            #expect(reader.version?.count == 8)
            #expect(reader.pages.first?.prefix(3) == Data([4, 1, 2]))
            #expect((reader.lastError as? NFCReaderError)?.code == .readerSessionInvalidationErrorUserCanceled)
            try await field.untilIdle()
        }
    }

    @Test func `Balance reader: reads a transport card`() async throws {
        try await withVirtualField { field in
            await AppConfiguration.$scoped.withValue(Self.configuration) {
                field.tags.bring(VirtualTagExamples.transportCard)
                let (ended, end) = AsyncStream<Void>.makeStream()
                let reader = FeliCaBalanceReader()
                reader.completion = { end.finish() }
                reader.beginScanning()
                for await _ in ended {}
                #expect(reader.balance == 1234)
                #expect(reader.history.count == 10)
                #expect(reader.failure == nil)
            }
            try await field.untilIdle()
        }
    }

    @Test func `Sensor reader: fails for a command that the tag does not have`() async throws {
        try await withVirtualField { field in
            field.tags.bring(VirtualType5Tag(.icodeSLIX2))
            let (results, result) = AsyncStream<Result<Data, SensorError>>.makeStream()
            let reader = SensorReader { result.yield($0) }
            reader.start()
            let outcome = await results.first { _ in true }
            #expect(throws: SensorError.self) { try outcome?.get() }
            try await field.untilIdle()
        }
    }

    struct Keys: AccessKeys {
        func externalAuthenticateData(challenge: Data) throws -> Data { Data([UInt8(challenge.count), challenge[0]]) }
        func verify(_ answer: Data) throws {
            guard answer.count == 40 else { throw PassportError.noDocument }
        }
    }

    @MainActor @Test func `Document reader: opens a document and reads a file`() async throws {
        try await withVirtualField { field in
            try await AppConfiguration.$scoped.withValue(Self.configuration) {
                field.tags.bring(VirtualTagExamples.document)
                let reader = PassportReader(keys: Keys())
                let file = try await reader.readFile(0x011E)
                #expect(file == Data([0x60, 0x02, 0xAA, 0xBB]))
            }
            try await field.untilIdle()
        }
    }

    @Test func `Plugin: reads a tag's message and sends it a command, by the handle given at discovery`() async throws {
        try await withVirtualField { field in
            field.tags.bring(VirtualTagExamples.ntag213)
            let (answers, answer) = AsyncStream<String>.makeStream()
            let plugin = NfcPlugin()
            plugin.onDiscovered = { [unowned plugin] tag in
                guard let handle = tag["handle"] as? String else { return answer.finish() }
                plugin.read(handle) { result in
                    let records = result["records"] as? [[String: Any]]
                    answer.yield("\(records?.count ?? 0) \(result["writable"] as? Bool ?? false)")
                    plugin.transceive(handle, Data([0x30, 4])) { result in
                        answer.yield("\((result["data"] as? Data)?.count ?? 0)")
                        answer.finish()
                        plugin.session?.invalidate()
                    }
                }
            }
            plugin.startSession(options: ["iso14443"])
            var seen: [String] = []
            for await text in answers { seen.append(text) }
            #expect(seen == ["1 true", "16"])
            try await field.untilIdle()
        }
    }

    @Test func `Plugin that stores the page's call after begin(): answers the call when the session becomes active`()
        async throws
    {
        try await withField(.product("NTAG213", holding: .uri("https://example.com"))) { field in
            for _ in 0..<5 {
                let plugin = PageCallPlugin()
                let events = Locked<[String]>([])
                plugin.onEvent = { event in events.withLock { $0.append(event) } }
                let answer = try await field.completion("call") { plugin.startScanning($0) }
                await field.wait(for: .seconds(1))
                plugin.stopScanning()
                await field.settle()
                #expect(answer == "scanning" && events.withLock { $0 } == ["https://example.com", "ended"])
            }
        }
    }

    @Test func `isAvailable: true from the detection of a tag, and false once the tag has left`() async throws {
        try await withField("NTAG213") { field in
            let log = Locked<[String]>([])
            let watcher = AvailabilityWatcher { line in log.withLock { $0.append(line) } }
            watcher.start()
            await field.wait(for: .seconds(3))
            #expect(log.withLock { $0 } == ["read"])
            try await field.takeAway()
            await field.wait(for: .seconds(1))
            #expect(log.withLock { $0 } == ["read", "gone"])
            try await field.bring("NTAG215")
            await field.wait(for: .seconds(1))
            watcher.stop()
            await field.settle()
            #expect(log.withLock { $0 } == ["read", "gone", "read", "ended"])
        }
    }

    @Test(arguments: [true, false])
    func `Card emulated by another phone: its data and link are read; a phone without the application is refused`(
        hasApplication: Bool
    ) async throws {
        let app = AppProperties(infoPlist: [
            "NFCReaderUsageDescription": "Why.",
            "com.apple.developer.nfc.readersession.iso7816.select-identifiers": [
                "F04D454D42455201", "D2760000850101",
            ],
        ])
        let card = VirtualTagExamples.phoneCard(hasApplication: hasApplication)
        try await withField(.tag(card), app: app) { field in
            let card = await Task { try await PhoneCardReader().read() }.result
            await field.settle()
            if hasApplication {
                #expect((try? card.get()) == PhoneCard(member: "4711", link: URL(string: "https://example.com")))
                #expect(field.sheetHistory.last?.content.state != .failure)
            } else {
                #expect(throws: PhoneCardError.otherCard) { try card.get() }
                #expect(field.sheetTexts.last == "The other phone has no card.")
            }
        }
    }

    @available(iOS 26.4, *)
    @MainActor @Test(arguments: [true, false])
    func `App of iOS 26.4: finds a document by PACE, and then a ticket`(takesPACE: Bool) async throws {
        var contents = try EMRTDContents(
            MachineReadableZone(
                "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"
            ),
            signer: .test
        )
        if takesPACE {
            contents.cardAccess = [
                0x31, 0x14, 0x30, 0x12, 0x06, 0x0A, 0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04, 0x02, 0x02, 0x02,
                0x01, 0x02, 0x02, 0x01, 0x0D,
            ]
        }
        try await withVirtualField { [contents] field in
            await AppConfiguration.$scoped.withValue(Self.configuration) {
                field.tags.bring(VirtualType4Tag(contents))
                field.tags.bring(
                    VirtualType3Tag(.transitCard(idm: [1, 0x2E, 0x4C, 0xE1, 0x9C, 0x5B, 0x12, 0x34], balance: 5))
                )
                let (logs, log) = AsyncStream<[String]>.makeStream()
                let finder = DocumentFinder { log.yield($0) }
                finder.find()
                for await log in logs {
                    #expect(
                        log == [
                            "active", takesPACE ? "document with PACE" : "document A0000002471001", "ticket [0, 3]",
                            "ended",
                        ]
                    )
                    break
                }
            }
            try await field.untilIdle()
        }
    }
}
