// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import NFCReaders

/// Checks the field of a folder whose images may not be readable.
@Suite struct `The field of a folder` {
    private let field = FolderField()

    private func problem(_ call: () async throws(LinkError) -> Void) async -> String? {
        do throws(LinkError) {
            try await call()
            return nil
        } catch {
            return error.code == .readerUnavailable ? error.reason : "\(error.code)"
        }
    }

    @Test func `A problem keeps its carrier off, and is the reason why`() async {
        #expect(await problem { () throws(LinkError) in try await field.setCarrier(true) } == nil)
        field.note("It is gone.")
        #expect(await problem { () throws(LinkError) in try await field.setCarrier(true) } == "It is gone.")
        #expect(await problem { () throws(LinkError) in try await field.prepare() } == "It is gone.")
        // It can be turned off.
        #expect(await problem { () throws(LinkError) in try await field.setCarrier(false) } == nil)
        field.note(nil)
        #expect(await problem { () throws(LinkError) in try await field.prepare() } == nil)
        #expect(await problem { () throws(LinkError) in try await field.setCarrier(true) } == nil)
    }

    @Test func `Each observer is told of tags and of each new problem, as long as it observes`() throws {
        let counts = Locked([0, 0])
        let first = try #require(field.observePresence { counts.withLock { $0[0] += 1 } })
        var second = field.observePresence { counts.withLock { $0[1] += 1 } }
        field.note("It is gone.")
        field.note("It is gone.")
        #expect(counts.withLock { $0 } == [1, 1])
        field.note("It is a file.")
        field.note(nil)
        #expect(counts.withLock { $0 } == [3, 3])
        let tag = VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        field.field.bring(tag)
        #expect(counts.withLock { $0 } == [4, 4])
        #expect(field.arrival(of: tag.identifier) == field.field.arrival(of: tag.identifier))
        #expect(second != nil)
        second = nil
        field.note("It is gone.")
        field.field.removeAll()
        #expect(counts.withLock { $0 } == [6, 4])
        withExtendedLifetime(first) {}
    }
}
