// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import PrivateStorage
import TestThreads
import Testing

@Suite struct `An entry that is claimed` {
    private static let id = InboxEntry.ID(received: 1, number: 1)

    private func inbox(_ scratch: Scratch) throws -> Inbox<DirectoryStore> {
        Inbox(try DirectoryStore(scratch.path + "/inbox"))
    }

    @Test func `Is claimed by one at a time, also while its notification is shown, and can still be read`()
        throws
    {
        let scratch = try Scratch()
        let first = try inbox(scratch)
        let second = try inbox(scratch)
        try first.add(InboxEntry(id: Self.id, message: [1]))
        var claim: FileClaim? = try first.claim(Self.id)
        #expect(throws: StorageError(.inUse, "")) { try second.claim(Self.id) }
        try first.markAnnounced(Self.id)
        #expect(throws: StorageError(.inUse, "")) { try second.claim(Self.id) }
        #expect(try second.content().entries.map(\.message) == [[1]])
        withExtendedLifetime(claim) {}
        claim = nil
        claim = try second.claim(Self.id)
        #expect(throws: StorageError(.inUse, "")) { try first.claim(Self.id) }
    }

    @Test func `Is gone for all others when it is removed`() throws {
        let scratch = try Scratch()
        let inbox = try inbox(scratch)
        try inbox.add(InboxEntry(id: Self.id, message: [1]))
        let claim = try inbox.claim(Self.id)
        try inbox.remove(Self.id)
        withExtendedLifetime(claim) {}
        #expect(throws: StorageError(.missing, "")) { try inbox.claim(Self.id) }
        try scratch.write("inbox/\(Self.id).entry/a file in a folder", "x")
        #expect(throws: StorageError.self) { try inbox.claim(Self.id) }
    }

    @Test(.ownThreads) func `Is there for others when the process that claimed it is killed`() async throws {
        let scratch = try Scratch("claim-\(getpid())")
        let inbox = try inbox(scratch)
        try inbox.add(InboxEntry(id: Self.id, message: [1]))
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let inbox = Inbox(try DirectoryStore(Scratch.path("claim-\(getppid())") + "/inbox"))
            let claim = try inbox.claim(InboxEntry.ID(received: 1, number: 1))
            kill(getpid(), SIGKILL)
            withExtendedLifetime(claim) {}
        }
        let claim = try inbox.claim(Self.id)
        await #expect(processExitsWith: .exitCode(7)) {
            let inbox = Inbox(try DirectoryStore(Scratch.path("claim-\(getppid())") + "/inbox"))
            do throws(StorageError) {
                _ = try inbox.claim(InboxEntry.ID(received: 1, number: 1))
            } catch {
                exit(error.code == .inUse ? 7 : 8)
            }
        }
        withExtendedLifetime(claim) {}
        #expect(try inbox.content().entries.count == 1)
    }
}
