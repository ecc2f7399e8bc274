// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import Testing
import VirtualTags

@testable import SourceCompatibilitySwift5  // the clients' types are internal, as in an app
@testable import SourceCompatibilitySwift6  // the clients' types are internal, as in an app

@Suite(.timeLimit(.minutes(5))) struct ClientTests {
    @Test func `Client's own tag type: also has the command forms that the client did not write`() async throws {
        let card = MockChipCard()
        card.answers = [(Data([1]), 0x90, 0x00), (Data([2]), 0x90, 0x00)]
        let command = try #require(NFCISO7816APDU(data: Data([0, 0x84, 0, 0, 8])))
        let answer: NFCISO7816ResponseAPDU = try await card.sendCommand(apdu: command)
        #expect(answer.payload == Data([1]) && answer.statusWord1 == 0x90)
        let results = Locked<[Data?]>([])
        card.sendCommand(apdu: command) { result in
            results.withLock { $0.append(try? result.get().payload) }
        }
        #expect(results.withLock { $0 } == [Data([2])])
        await #expect(throws: NFCReaderError.self) { () -> (Data, UInt8, UInt8) in
            try await card.sendCommand(apdu: command)
        }
        // A tag that was written before there was PACE takes none.
        #expect(card.sent.count == 3 && !card.supportsPACE)
    }

    @Test(arguments: [
        (NFCReaderError.Code.readerSessionInvalidationErrorUserCanceled, "cancelled"),
        (.readerSessionInvalidationErrorSessionTimeout, "timed out"), (.readerTransceiveErrorTagConnectionLost, "lost"),
        (.readerErrorUnsupportedFeature, "unsupported"),
    ])
    func `Client that imports only Core NFC: tells reader errors apart by their codes`(
        code: NFCReaderError.Code,
        name: String
    ) {
        #expect(ScanLog.name(of: NFCReaderError(code)) == name)
    }

    @Test func `Client's mock subclass of NFCTagReaderSession: delivers its error to the client's delegate`() throws {
        let plugin = NfcPlugin()
        let found = Locked<[String: String]>([:])
        plugin.onError = { error in found.withLock { $0["error"] = error["type"] as? String } }
        let session = try #require(
            MockCardSession(pollingOption: plugin.pollingOption(["iso14443"]), delegate: plugin, queue: nil)
        )
        session.listener = plugin
        session.script = .end(NFCReaderError(.readerSessionInvalidationErrorSessionTimeout))
        session.begin()
        #expect(found.withLock { $0["error"] } == "sessionTimeout")
        session.invalidate(errorMessage: "No.")
        #expect(session.ended == ["No."])
    }

    @Test func `Client with a publisher: gets the messages of a tag`() async throws {
        try await withVirtualField { field in
            let publisher = NDEFPublisher()
            let (events, continuation) = AsyncStream<Int>.makeStream()
            let subscription = publisher.messages.sink { result in
                switch result {
                case .success(let messages): continuation.yield(messages.count)
                case .failure: continuation.finish()
                }
            }
            publisher.start()
            field.tags.bring(VirtualTagExamples.ntag213)
            var counts: [Int] = []
            for await count in events { counts.append(count) }
            #expect(counts == [1])
            subscription.cancel()
            try await field.untilIdle()
        }
    }

    @Test func `Client's stream of tags: the session ends when the loop is left`() async throws {
        try await withVirtualField { field in
            field.tags.bring(VirtualTagExamples.ntag213)
            var found = 0
            for try await event in TagStream.events(for: .iso14443) {
                guard case .found(let tags) = event else { continue }
                found = tags.count
                break
            }
            #expect(found == 1)
            try await field.untilIdle()
        }
    }

    @Test func `User activity without a link: it opens nothing`() throws {
        #expect(openedLink(NSUserActivity(activityType: "com.example.note")) == .nothing)
        #expect(openedLink(NSUserActivity(activityType: NSUserActivityTypeBrowsingWeb)) == .nothing)
    }

    @Test func `Card client without a reader: finds card emulation unavailable`() async throws {
        try await withoutReader {
            let log = try await runLoyaltyCard { $0 }
            #expect(log == ["unavailable"])
        }
    }

    @Test func `Client's actor without a connection: throws its own error notConnected`() async throws {
        let vault = Vault()
        let command = try #require(NFCISO7816APDU(data: Data([0, 0x84, 0, 0, 8])))
        await #expect(throws: VaultError.notConnected) { try await vault.send(command) }
    }

    @Test func `Client in Swift 5 mode: names a reader error by its code, and any other error unknown`() {
        let plugin = NfcPlugin()
        #expect(plugin.map(NFCReaderError(.readerErrorRadioDisabled))["type"] as? String == "radioDisabled")
        #expect(plugin.map(CocoaError(.fileNoSuchFile))["type"] as? String == "unknown")
    }
}

enum VirtualTagExamples {
    /// An NTAG213 with a link.
    static var ntag213: VirtualType2Tag {
        let message: [UInt8] = [0xD1, 1, 12, 0x55, 4] + Array("example.com".utf8)
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        let block = [3, UInt8(message.count)] + message + [0xFE]
        contents.memory.replaceSubrange(21..<21 + block.count, with: block)
        return VirtualType2Tag(contents)
    }

    /// A transport card with a history of ten entries, the newest with a balance of 1234.
    static var transportCard: VirtualType3Tag {
        let entry: [UInt8] = [0x16, 1, 0, 2, 0x1B, 0x6C, 1, 2, 3, 4, 0xD2, 0x04, 0, 0, 1, 0]
        let file = FeliCaFile(serviceCodes: [0x090F], memory: [[UInt8]](repeating: entry, count: 10).flatMap(\.self))
        let systems = [FeliCaSystem(code: 0x0003, files: [file])]
        return VirtualType3Tag(FeliCaStandardContents(idm: [1, 2, 3, 4, 5, 6, 7, 8], systems: systems))
    }

    /// A card that another phone emulates, with a random UID.
    ///
    /// - Parameter hasApplication: whether it has the app's own application, and not only a message.
    static func phoneCard(hasApplication: Bool) -> VirtualType4Tag {
        var generator = SystemRandomNumberGenerator()
        let applications: [any CardApplication] = hasApplication ? [MemberApplication()] : []
        return VirtualType4Tag(
            card: ApplicationCard(applications + [PhoneMessage()]),
            frontEnd: .randomUID(using: &generator)
        )
    }

    /// A travel document that accepts any authentication and has one short file.
    static var document: VirtualType4Tag {
        var card = ScriptedCard()
        card.answer([0, 0xA4, 4, 0x0C, 7, 0xA0, 0, 0, 2, 0x47, 0x10, 1], with: [0x90, 0])
        card.answer([0, 0xA4, 4, 0, 7, 0xA0, 0, 0, 2, 0x47, 0x10, 1, 0], with: [0x90, 0])
        card.answer([0, 0x84, 0, 0, 8], with: [1, 2, 3, 4, 5, 6, 7, 8, 0x90, 0])
        card.answer([0, 0x82, 0, 0, 2, 8, 1, 40], with: [UInt8](repeating: 9, count: 40) + [0x90, 0])
        card.answer([0, 0xB0, 0, 0, 0], with: [0x60, 0x02, 0xAA, 0xBB, 0x90, 0])
        card.answer([0, 0xB0, 0, 4, 0], with: [0x6B, 0x00])
        return VirtualType4Tag(card: card)
    }
}

/// The application of a membership card: GET DATA returns the member's number.
private struct MemberApplication: CardApplication {
    let names: [[UInt8]] = [[0xF0, 0x4D, 0x45, 0x4D, 0x42, 0x45, 0x52, 0x01]]

    mutating func select(_ command: CardCommand) -> CardAnswer { CardAnswer(status: .success) }

    mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer {
        command.ins == 0xCA ? CardAnswer(Array("4711".utf8), status: .success) : CardAnswer(status: .unknownInstruction)
    }

    mutating func deselect() {}
}

/// The message of a card that an app on Android emulates. Such apps refuse to read past the end of the message with 6A82.
private struct PhoneMessage: CardApplication {
    private var application: NDEFApplication

    init() {
        let message: [UInt8] = [0xD1, 1, 12, 0x55, 4] + Array("example.com".utf8)
        application = NDEFApplication(size: 256)
        application.files[0xE104] = [0, UInt8(message.count)] + message
    }

    var names: [[UInt8]] { application.names }

    mutating func select(_ command: CardCommand) -> CardAnswer { application.select(command) }

    mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer {
        let answer = application.process(command, tear: tear)
        return answer.bytes.suffix(2) == [0x62, 0x82] ? CardAnswer(status: .notFound) : answer
    }

    mutating func deselect() { application.deselect() }
}
