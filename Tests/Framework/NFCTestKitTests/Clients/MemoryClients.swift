// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit

/// Takes one use from a card: increments its counter. After a lost answer, it looks whether the card has counted.
final class CounterClient: TagClient, @unchecked Sendable {
    static let card = TagSpec.product("MIFARE Ultralight EV1 UL11")

    /// The card that is used, and its counter after this use.
    private var use: (card: Data, goal: UInt8)?

    init(bug: Bug = .none) { super.init(.iso14443, bug: bug) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .miFare(let tag) = tag else { throw Failure.wrongTag }
        // READ_CNT of counter 0, least significant byte first.
        guard let count = try await tag.sendMiFareCommand(commandPacket: Data([0x39, 0])).first else {
            throw Failure.damaged
        }
        if use?.card != tag.identifier { use = (tag.identifier, count &+ 1) }
        if bug == .countsAgain || count != use?.goal {
            // INCR_CNT by one.
            let answer = try await tag.sendMiFareCommand(commandPacket: Data([0xA5, 0, 1, 0, 0, 0]))
            guard answer == Data([0x0A]) else { throw Failure.refused }
        }
        return "used"
    }
}

/// Reads a link, and writes it back with something appended. After a lost tag, it continues with the link that it read.
final class LinkExtender: TagClient, @unchecked Sendable {
    private var read: (tag: Data, link: String)?

    init(bug: Bug = .none) { super.init(.iso14443, bug: bug) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .miFare(let tag) = tag else { throw Failure.wrongTag }
        if read == nil || bug != .keepsOldText && read?.tag != tag.identifier {
            let record = try await tag.readNDEF().records.first
            guard let link = record?.wellKnownTypeURIPayload() else { throw Failure.damaged }
            read = (tag.identifier, link.absoluteString)
        }
        guard let link = read?.link, let record = NFCNDEFPayload.wellKnownTypeURIPayload(string: link + "/new") else {
            throw Failure.damaged
        }
        do {
            try await tag.writeNDEF(NFCNDEFMessage(records: [record]))
        } catch NFCReaderError.ndefReaderSessionErrorTagUpdateFailure {
            // It searches again, and writes again.
            throw NFCReaderError(.readerTransceiveErrorTagConnectionLost)
        }
        return link
    }
}

/// Adds an entry to the log in pages 20 to 23, whose oldest entry goes. After a lost tag, it continues with the log that
/// it read.
final class PageLog: TagClient, @unchecked Sendable {
    static let tag = TagSpec.product("NTAG215").writing((1...16).map { $0 }, atBlock: 20)

    private var read: (tag: Data, log: Data)?

    init(bug: Bug = .none) { super.init(.iso14443, bug: bug) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .miFare(let tag) = tag else { throw Failure.wrongTag }
        if read == nil || bug != .keepsOldPages && read?.tag != tag.identifier {
            read = (tag.identifier, try await tag.sendMiFareCommand(commandPacket: Data([0x30, 20])))
        }
        guard let log = read?.log, log.count == 16 else { throw Failure.damaged }
        // The last page comes first, so that no entry is lost.
        for page in (0..<4).reversed() {
            let bytes = page == 0 ? Data([90, 91, 92, 93]) : log[(4 * page - 4)..<(4 * page)]
            let answer = try await tag.sendMiFareCommand(commandPacket: Data([0xA2, UInt8(20 + page)]) + bytes)
            guard answer == Data([0x0A]) else { throw Failure.refused }
        }
        return "added"
    }
}

/// Writes a page that needs the password.
final class PasswordClient: TagClient, @unchecked Sendable {
    static let password: [UInt8] = [0x12, 0x34, 0x56, 0x78]

    static let tag = TagSpec.product("NTAG215").protected(by: password)

    private var isOpen = false

    init(bug: Bug = .none) { super.init(.iso14443, bug: bug) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .miFare(let tag) = tag else { throw Failure.wrongTag }
        if !isOpen || bug != .sendsPasswordOnce {
            let acknowledgement = try await tag.sendMiFareCommand(commandPacket: Data([0x1B] + Self.password))
            guard acknowledgement.count == 2 else { throw Failure.refused }
            isOpen = true
        }
        let answer = try await tag.sendMiFareCommand(commandPacket: Data([0xA2, 20, 1, 2, 3, 4]))
        guard answer == Data([0x0A]) else { throw Failure.refused }
        return "written"
    }
}

/// Protects an NTAG215 with a password: first the password, then AUTH0.
final class Protector: TagClient, @unchecked Sendable {
    init(bug: Bug = .none) { super.init(.iso14443, bug: bug) }

    @MainActor override func work(with tag: NFCTag) async throws -> String {
        guard case .miFare(let tag) = tag else { throw Failure.wrongTag }
        // AUTH0 shows whether an earlier attempt was complete.
        let configuration = try await tag.sendMiFareCommand(commandPacket: Data([0x30, 131]))
        if configuration.dropFirst(3).first != 0xFF { return "protected" }
        var pages: [(UInt8, [UInt8])] = [(133, PasswordClient.password), (134, [1, 2, 0, 0]), (131, [4, 0, 0, 4])]
        if bug == .protectsFirst { pages.insert(pages.removeLast(), at: 0) }
        for (page, bytes) in pages {
            let answer = try await tag.sendMiFareCommand(commandPacket: Data([0xA2, page] + bytes))
            guard answer == Data([0x0A]) else { throw Failure.refused }
        }
        return "protected"
    }
}

/// Does all work in the caller's task, which may be cancelled.
final class TaskClient: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    // Sendable because its parts are constant.

    private let bug: Bug
    /// The tags of a search. They are only used by the caller's task.
    private struct Found: @unchecked Sendable {
        var tags: [NFCTag]
    }

    private let (searches, found) = AsyncThrowingStream<Found, any Error>.makeStream()

    init(bug: Bug = .none) { self.bug = bug }

    func scan() async throws -> String {
        let session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self, queue: .main)
        session?.alertMessage = "Hold the card near the phone."
        session?.begin()
        do {
            let text = try await read(session)
            session?.invalidate()
            return text
        } catch {
            if bug != .leavesWhenCancelled || !(error is CancellationError) {
                session?.invalidate(errorMessage: "That did not work. Try again.")
            }
            throw error
        }
    }

    private func read(_ session: NFCTagReaderSession?) async throws -> String {
        for try await search in searches {
            guard let first = search.tags.first, search.tags.count == 1, case .miFare(let tag) = first else {
                throw TagClient.Failure.wrongTag
            }
            try await session?.connect(to: first)
            var pages = Data()
            for page in [4, 8] as [UInt8] {
                try Task.checkCancellation()
                pages += try await tag.sendMiFareCommand(commandPacket: Data([0x30, page]))
            }
            return "\(pages.count) bytes"
        }
        throw CancellationError()
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) { found.yield(Found(tags: tags)) }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        found.finish(throwing: error)
    }
}
