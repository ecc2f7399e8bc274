// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit

/// A client of tag sessions. It waits for one tag, runs its commands, and searches again after the tag was lost.
///
/// It can have those bugs of ``Bug`` that concern the lifetime of a session.
class TagClient: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    // Sendable because all of it is used only on the main queue after the start.

    /// The client's own errors.
    enum Failure: Error {
        case wrongTag, refused, damaged
    }

    let bug: Bug
    private let polling: NFCTagReaderSession.PollingOption
    private var session: NFCTagReaderSession?
    private var itself: TagClient?
    private var completion: (@Sendable (Result<String, any Error>) -> Void)?
    private var onEnd: (() -> Void)?

    init(_ polling: NFCTagReaderSession.PollingOption, bug: Bug) {
        self.polling = polling
        self.bug = bug
    }

    /// What is done with a tag; a subclass does it.
    @MainActor func work(with tag: NFCTag) async throws -> String { throw Failure.wrongTag }

    /// Scans, as the test's flow; time passes to the session's limit at once.
    func scan(_ field: TestField) async throws -> String {
        async let result = field.completion("scan") { self.start($0) }
        await field.wait(for: .seconds(70))
        return try await result.get()
    }

    func start(_ completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
        self.completion = completion
        itself = self
        session = NFCTagReaderSession(pollingOption: polling, delegate: self, queue: .main)
        session?.alertMessage = "Hold the card near the phone."
        if bug == .retainsItself { onEnd = { self.itself = nil } }
        session?.begin()
        if bug == .beginsTwice { session?.begin() }
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard let tag = tags.first, tags.count == 1 || bug == .takesFirst else {
            session.alertMessage = "Hold one card alone near the phone."
            return bug == .noRestartAfterSeveral ? () : restart(session)
        }
        Task { @MainActor in await attend(to: tag, session) }
    }

    @MainActor private func attend(to tag: NFCTag, _ session: NFCTagReaderSession, isRetry: Bool = false) async {
        do {
            try await session.connect(to: tag)
            let text = try await work(with: tag)
            if bug != .setsTextAfterEnd { session.alertMessage = "Done." }
            session.invalidate()
            if bug == .setsTextAfterEnd { session.alertMessage = "Done." }
            finish(.success(text))
        } catch NFCReaderError.readerTransceiveErrorTagConnectionLost {
            session.alertMessage = "Hold the card still."
            if bug == .retriesLostTag {
                if isRetry { return fail(Failure.refused, session) }
                try? await Task.sleep(for: .seconds(2))
                return await attend(to: tag, session, isRetry: true)
            }
            if bug != .noRestartAfterLoss { restart(session) }
        } catch {
            fail(error, session)
        }
    }

    private func restart(_ session: NFCTagReaderSession) {
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(500)) { session.restartPolling() }
    }

    private func fail(_ error: any Error, _ session: NFCTagReaderSession) {
        switch bug {
        case .neverInvalidates: break
        case .silentEnd: session.invalidate()
        default: session.invalidate(errorMessage: "That did not work. Try again.")
        }
        if bug == .neverCompletes { completion = nil }
        finish(.failure(error))
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
        self.session = nil
        onEnd?()
        itself = nil
    }

    private func finish(_ result: Result<String, any Error>) {
        completion?(result)
        if bug != .completesTwice { completion = nil }
    }
}

/// Reads the blocks of an ISO 15693 sensor, and counts how often it was read.
final class SensorReader: TagClient, @unchecked Sendable {
    private let locks: Bool

    init(bug: Bug = .none, locks: Bool = false) {
        self.locks = locks
        super.init(.iso15693, bug: bug)
    }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .iso15693(let tag) = tag else { throw Failure.wrongTag }
        let flags: NFCISO15693RequestFlag = [.highDataRate, .address]
        var values: [UInt8] = []
        for block in UInt8(8)..<12 {
            do {
                values += try await tag.readSingleBlock(requestFlags: flags, blockNumber: block)
            } catch {
                guard bug == .zerosForChunk else { throw error }
                values += [0, 0, 0, 0]
            }
        }
        do {
            try await tag.writeSingleBlock(requestFlags: flags, blockNumber: 20, dataBlock: Data([1, 2, 3, 4]))
        } catch {
            if bug == .locksAfterRefusal { try await tag.lockBlock(requestFlags: flags, blockNumber: 20) }
            throw error
        }
        if locks { try await tag.lockBlock(requestFlags: flags, blockNumber: 20) }
        return values.map(String.init).joined(separator: " ")
    }
}

/// Reads a card, and waits for the same card if it was lost.
final class OwnCardReader: TagClient, @unchecked Sendable {
    private var identifier: Data?

    init() { super.init(.iso14443, bug: .none) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .miFare(let tag) = tag else { throw Failure.wrongTag }
        identifier = identifier ?? tag.identifier
        // It searches again.
        guard tag.identifier == identifier else { throw NFCReaderError(.readerTransceiveErrorTagConnectionLost) }
        return "\(try await tag.readNDEF().records.count) records"
    }
}

/// Selects an application of a card and reads a record, which comes in two parts.
final class AppletReader: TagClient, @unchecked Sendable {
    static let name: [UInt8] = [0xA0, 0, 0, 2, 0x47, 0x10, 1]
    static let app = AppProperties(
        infoPlist: [
            "NFCReaderUsageDescription": "Cards are read.",
            "com.apple.developer.nfc.readersession.iso7816.select-identifiers": ["A0000002471001"],
        ]
    )
    static let card = TagSpec.script([
        (command: [0, 0xA4, 4, 0, 7] + name + [0], answer: [0x90, 0]),
        (command: [0, 0xA4, 4, 0, 7] + name, answer: [0x90, 0]),
        (command: [0, 0xB2, 1, 4, 0], answer: Array("0123456789".utf8) + [0x61, 4]),
        (command: [0, 0xC0, 0, 0, 4], answer: Array("abcd".utf8) + [0x90, 0]),
    ])

    init(bug: Bug = .none) { super.init(.iso14443, bug: bug) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .iso7816(let tag) = tag else { throw Failure.wrongTag }
        var (data, sw1, sw2) = try await send([0, 0xB2, 1, 4, 0], to: tag)
        while sw1 == 0x61, bug != .ignoresMoreData {
            let (more, next1, next2) = try await send([0, 0xC0, 0, 0, sw2], to: tag)
            data += more
            (sw1, sw2) = (next1, next2)
        }
        guard data.count == 14 else { throw Failure.damaged }
        return String(decoding: data, as: UTF8.self)
    }

    @MainActor private func send(_ command: [UInt8], to tag: any NFCISO7816Tag) async throws -> (Data, UInt8, UInt8) {
        guard let command = NFCISO7816APDU(data: Data(command)) else { throw Failure.damaged }
        return try await tag.sendCommand(apdu: command)
    }
}

/// Writes a block of a FeliCa card and reads it back.
final class PassWriter: TagClient, @unchecked Sendable {
    static let app = AppProperties(
        infoPlist: [
            "NFCReaderUsageDescription": "Cards are read.",
            "com.apple.developer.nfc.readersession.felica.systemcodes": ["88B4"],
        ]
    )

    init(bug: Bug = .none) { super.init(.iso18092, bug: bug) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .feliCa(let tag) = tag else { throw Failure.wrongTag }
        let block = Data([0x80, 0x0C])
        let written = try await tag.writeWithoutEncryption(
            serviceCodeList: [Data([0x09, 0x00])],
            blockList: [block],
            blockData: [Data(1...16)]
        )
        guard written == (0, 0) else { throw Failure.refused }
        let (status, _, blocks) = try await tag.readWithoutEncryption(
            serviceCodeList: [Data([0x0B, 0x00])],
            blockList: [block]
        )
        guard status == 0, let first = blocks.first else { throw Failure.refused }
        return first.map(String.init).joined(separator: " ")
    }
}

/// Writes an NDEF message to the pages of an NTAG by itself: a length of zero, the body, and the length last.
final class PageWriter: TagClient, @unchecked Sendable {
    private let message: [UInt8]
    private let locks: Bool

    init(_ message: [UInt8], bug: Bug = .none, locks: Bool = false) {
        self.message = message
        self.locks = locks
        super.init(.iso14443, bug: bug)
    }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .miFare(let tag) = tag else { throw Failure.wrongTag }
        var memory = [0x03, UInt8(message.count)] + message + [0xFE]
        while memory.count % 4 != 0 { memory.append(0) }
        let pages = memory.count / 4
        var body = Array(1..<pages)
        if bug == .lengthFirst {
            body.insert(0, at: 0)
        } else {
            try await write([0x03, 0, memory[2], memory[3]], to: 4, of: tag)
            body.append(0)
        }
        if bug == .locksFirst { try await lock(tag) }
        for page in body { try await write(Array(memory[(4 * page)..<(4 * page + 4)]), to: 4 + page, of: tag) }
        if locks, bug != .locksFirst { try await lock(tag) }
        return "\(pages) pages"
    }

    /// Marks the tag as read-only in its capability container.
    @MainActor private func lock(_ tag: any NFCMiFareTag) async throws {
        try await write([0xE1, 0x10, 0x3E, 0x0F], to: 3, of: tag)
    }

    @MainActor private func write(_ bytes: [UInt8], to page: Int, of tag: any NFCMiFareTag) async throws {
        let answer = try await tag.sendMiFareCommand(commandPacket: Data([0xA2, UInt8(page)] + bytes))
        // Four bits: ACK, or NAK with its reason.
        if answer != Data([0x0A]), bug != .ignoresNAK { throw Failure.refused }
    }
}

/// What is wrong with a client. Each is easily made, and shows on no desk.
enum Bug: String, CaseIterable, Codable, Sendable {
    case none
    case neverInvalidates = "An error path never invalidates the session"
    case neverCompletes = "An error path does not call the completion handler"
    case silentEnd = "An error ends the session without a message"
    case completesTwice = "The completion handler is called twice"
    case noRestartAfterLoss = "Polling is not restarted after a lost tag"
    case noRestartAfterSeveral = "Polling is not restarted after several tags"
    case lengthFirst = "The length is written before the body, page by page"
    case ignoresNAK = "A NAK in answer to a page write is ignored"
    case ignoresStatus = "A locked tag is written without a look at its status"
    case forcesPayload = "The first record is taken for granted"
    case blocksQueue = "The delegate's queue is blocked"
    case ignoresMoreData = "A status of 61xx is ignored"
    case takesFirst = "The first of several tags is taken"
    case keepsStateOnCancel = "The state is not reset when the person cancels"
    case retainsItself = "A closure holds its owner"
    case zerosForChunk = "A chunk that can't be read becomes zeros"
    case resumesTwice = "A continuation is resumed twice"
    case invalidatesFirst = "The session is invalidated before the result is handed over"
    case countsAgain = "A command whose answer was lost is sent again"
    case keepsOldText = "What the first tag held is written to another"
    case keepsOldPages = "The first tag's pages are written to another"
    case leavesWhenCancelled = "A cancelled task leaves its session open"
    case replacesCompletion = "A second tap replaces the first scan's completion"
    case alertsAtEnd = "Each error of the session's end is shown"
    case sendsPasswordOnce = "The password is not sent again after a lost tag"
    case beginsTwice = "The session is begun twice"
    case setsTextAfterEnd = "The text is set after the session was invalidated"
    case protectsFirst = "The protection is switched on before the password is written"
    case locksFirst = "The tag is locked before its message is complete"
    case retriesLostTag = "A lost tag is connected again without a new search"
    case saysDoneFirst = "The text of success is set before the write"
    case locksAfterRefusal = "A block is locked although its write was refused"
    // This one is not in the documentation's table.
    case ignoresWriteError = "A write that fails counts as done"
}
