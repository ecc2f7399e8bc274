// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCRuntime
import NFCTestKit
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Checks the work with tags that a watcher's owner does in place of reading their messages.
@Suite(.timeLimit(.minutes(5)))
struct TagAttendantTests {
    private func tag(_ number: UInt8) -> VirtualType2Tag {
        VirtualType2Tag(.ntag213, uid: [0x04, 1, 2, 3, 4, 5, number])
    }

    @Test func `An attendant works with each tag that comes, and is called again after it failed`() async throws {
        let field = VirtualField()
        field.bring(tag(1))
        let (calls, input) = AsyncStream.makeStream(of: UInt8.self)
        let failures = Locked(1)
        let environment = NFCEnvironment(reader: .field(field))
        let made = TagWatcher(environment) { (tag: WatchedTag) async throws(TagError) in
            let survey = try await tag.survey()
            #expect(tag.forumTag?.type == .type2 && survey.message == [])
            #expect(await tag.productName() == "NTAG213")
            input.yield(tag.target.identifier.last ?? 0)
            let hasToFail = failures.withLock { count in
                count -= 1
                return count >= 0
            }
            if hasToFail { throw TagError(.tagLost, "The test wants it again.") }
        } observer: { event in
            if case .read = event { Issue.record("A message was read.") }
        }
        let watcher = try #require(made)
        watcher.start()
        var numbers = calls.makeAsyncIterator()
        #expect(await numbers.next() == 1)
        #expect(await numbers.next() == 1)
        field.bring(tag(2))
        #expect(await numbers.next() == 2)
        await watcher.stop()
    }

    @Test func `It stops during the work with a tag, and leaves the other ones alone until it starts again`()
        async throws
    {
        let field = VirtualField()
        for number: UInt8 in 1...3 { field.bring(tag(number)) }
        let (calls, input) = AsyncStream.makeStream(of: UInt8.self)
        let isPatient = Locked(true)
        let made = TagWatcher(NFCEnvironment(reader: .field(field), clock: ManualClock())) {
            (tag: WatchedTag) async throws(TagError) in
            input.yield(tag.target.identifier.last ?? 0)
            // Until it is stopped.
            while isPatient.withLock({ $0 }), !Task.isCancelled { await Task.yield() }
        } observer: { _ in
        }
        let watcher = try #require(made)
        watcher.start()
        var numbers = calls.makeAsyncIterator()
        let first = try #require(await numbers.next())
        await watcher.stop()
        isPatient.withLock { $0 = false }
        watcher.start()
        var all: [UInt8] = []
        for _ in 0..<3 { all.append(try #require(await numbers.next())) }
        #expect(all.sorted() == [1, 2, 3] && all.contains(first))
        await watcher.stop()
    }

    @Test func `A tag that leaves is reported, although it could not be read`() async throws {
        let field = VirtualField()
        let (looks, input) = AsyncStream.makeStream(of: Int.self)
        let made = TagWatcher(NFCEnvironment(reader: .field(field), clock: ManualClock())) {
            (_: WatchedTag) async throws(TagError) in
            throw TagError(.refused, "The test can't read it.")
        } observer: { event in
            if case .near(let identifiers) = event { input.yield(identifiers.count) }
        }
        let watcher = try #require(made)
        let unreadable = tag(1)
        field.bring(unreadable)
        watcher.start()
        var counts = looks.makeAsyncIterator()
        #expect(await counts.next() == 1)
        field.remove(unreadable)
        #expect(await counts.next() == 0)
        await watcher.stop()
    }
}
