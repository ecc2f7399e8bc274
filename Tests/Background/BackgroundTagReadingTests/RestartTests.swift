// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// Tags that lie on the reader while the service restarts, and those that only look like one of them.
@Suite struct `A tag with the message of an entry that an earlier run has left` {
    /// A machine that has taken over an entry whose notification is still shown, and reads since then.
    private func restarted() throws -> (bench: Bench, entry: InboxEntry) {
        var bench = try Bench()
        bench.reader = BackgroundReader(router: try Fixture.router())
        let id = InboxEntry.ID(received: 1, number: 99)
        let entry = InboxEntry(id: id, message: try Fixture.message(Fixture.link), isAnnounced: true)
        #expect(bench.handle(.restored(EarlierRun(entries: [entry], shown: [id]))) == [])
        #expect(bench.handle(.conditions(ReadingConditions())) == [.startLooking])
        return (bench, entry)
    }

    @Test(arguments: [(4999, false), (5000, false), (5001, true)])
    func `Has stayed within five seconds of the start, and has arrived later`(milliseconds: Int, isArrival: Bool)
        throws
    {
        var (bench, _) = try restarted()
        bench.now = .milliseconds(milliseconds)
        let actions = try bench.read(Fixture.link)
        #expect(actions.count == (isArrival ? 1 : 0))
    }

    @Test func `Has arrived when the display was off and on again, however soon after that`() throws {
        var (bench, _) = try restarted()
        bench.now += .seconds(60)
        _ = bench.handle(.conditions(ReadingConditions(isDisplayOn: false)))
        _ = bench.handle(.conditions(ReadingConditions()))
        bench.now += .seconds(2)
        #expect(try bench.read(Fixture.link).count == 1)
    }

    @Test func `Has arrived when its entry was cleared meanwhile, because nothing offers its link any more`() throws {
        var (bench, entry) = try restarted()
        #expect(bench.handle(.cleared(entry.id)) == [.withdraw(.entry(entry.id))])
        bench.now += .seconds(1)
        #expect(try bench.read(Fixture.link).count == 1)
    }
}
