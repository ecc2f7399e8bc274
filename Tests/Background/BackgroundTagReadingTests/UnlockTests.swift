// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

@Suite struct `A link that is wanted while the screen is locked` {
    private func locked() throws -> (bench: Bench, id: InboxEntry.ID) {
        var bench = try Bench()
        #expect(bench.handle(.lock(isLocked: true)) == [])
        let id = try bench.arriveAndShow(1...1)[0]
        return (bench, id)
    }

    @Test func `Is remembered first, then the prompt takes the notification's place, and it opens after the unlock`()
        throws
    {
        var (bench, id) = try locked()
        let actions = bench.handle(.activated(id))
        #expect(actions.count == 3)
        #expect(actions.first == .mark(id, .wanted))
        #expect(actions.last == .requestUnlock)
        guard case .announce(id, let content) = actions[1] else {
            Issue.record("no prompt")
            return
        }
        #expect(content.body == "Unlock to open “example.org”")
        // A click closes the notification on many desktops; that is no refusal.
        #expect(bench.handle(.closed(.entry(id), isDismissed: false)) == [])
        #expect(bench.handle(.announced(id)) == [])
        #expect(bench.handle(.lock(isLocked: true)) == [])
        // The wish is gone before the link opens: it opens once.
        #expect(bench.handle(.lock(isLocked: false)).opened == [id])
        #expect(bench.handle(.lock(isLocked: false)) == [])
        #expect(bench.handle(.delivered(id)) == [.remove(id), .withdraw(.entry(id))])
    }

    @Test func `Is asked for again by a second click`() throws {
        var (bench, id) = try locked()
        _ = bench.handle(.activated(id))
        let again = bench.handle(.activated(id))
        #expect(again.announced == [id] && again.last == .requestUnlock && again.count == 2)
    }

    @Test func `Opens with every other one that is wanted, in their order, and without those that nobody wants`()
        throws
    {
        var bench = try Bench()
        _ = bench.handle(.lock(isLocked: true))
        let ids = try bench.arriveAndShow(1...4)
        for index in [2, 0, 3] { _ = bench.handle(.activated(ids[index])) }
        _ = bench.handle(.closed(.entry(ids[3]), isDismissed: true))
        #expect(bench.handle(.lock(isLocked: false)).opened == [ids[0], ids[2]])
    }

    @Test func `Is asked for again when it is wanted, dismissed and wanted once more`() throws {
        var (bench, id) = try locked()
        _ = bench.handle(.activated(id))
        _ = bench.handle(.closed(.entry(id), isDismissed: true))
        let actions = bench.handle(.activated(id))
        #expect(actions.first == .mark(id, .wanted) && actions.announced == [id] && actions.last == .requestUnlock)
        #expect(bench.handle(.lock(isLocked: false)).opened == [id])
    }

    @Test func `Is not wanted any more when the prompt is dismissed`() throws {
        var (bench, id) = try locked()
        _ = bench.handle(.activated(id))
        _ = bench.handle(.announced(id))
        #expect(bench.handle(.closed(.entry(id), isDismissed: true)) == [.mark(id, .dismissed)])
        #expect(bench.handle(.lock(isLocked: false)) == [])
    }

    @Test func `Survives a service that is killed, and opens when the screen is seen to be unlocked`() throws {
        let message = try Fixture.message(Fixture.link)
        let entry = InboxEntry(id: InboxEntry.ID(received: 1, number: 1), message: message, isAnnounced: true)
        for isShown in [true, false] {
            var reader = BackgroundReader(router: try Fixture.router())
            let run = EarlierRun(
                entries: [entry],
                shown: isShown ? [entry.id] : [],
                marks: [entry.id: .wanted]
            )
            let actions = reader.handle(.restored(run), now: .zero)
            // A prompt that is not shown any more is shown again; nothing opens before the lock is known.
            #expect(actions.announced == (isShown ? [] : [entry.id]))
            #expect(actions.count == (isShown ? 0 : 1))
            #expect(reader.handle(.lock(isLocked: true), now: .zero) == [])
            #expect(reader.handle(.lock(isLocked: false), now: .zero).opened == [entry.id])
        }
    }

    @Test func `Leaves the summary for the prompt, also after a restart of what shows notifications`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...10 { _ = try bench.arrive(number) }
        _ = bench.handle(.lock(isLocked: true))
        let id = bench.lastID
        let actions = bench.handle(.activated(id))
        #expect(actions.first == .mark(id, .wanted) && actions.announced == [id])
        #expect(actions.summary?.ids.count == 1)
        _ = bench.handle(.desktopGone)
        let again = bench.handle(.desktopReady)
        #expect(again.announced == [id])
        #expect(again.summary?.ids.count == 9)
    }

    @Test func `Stays in the inbox when its link goes nowhere by then`() throws {
        var bench = try Bench(custom: true)
        _ = bench.handle(.lock(isLocked: true))
        _ = try bench.read("reader:x")
        let id = bench.lastID
        _ = bench.handle(.stored(id, isKept: true))
        _ = bench.handle(.activated(id))
        _ = bench.handle(.router(try Fixture.router()))
        #expect(bench.handle(.lock(isLocked: false)) == [.mark(id, nil), .note(.nothingToOpen(id))])
        #expect(bench.reader.keptEntries == [id])
        // The wish is gone: the next unlock does not try again.
        #expect(bench.handle(.lock(isLocked: true)) == [])
        #expect(bench.handle(.lock(isLocked: false)) == [])
    }
}
