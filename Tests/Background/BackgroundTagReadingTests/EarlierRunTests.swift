// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// What an earlier run has left, at its ends.
@Suite struct `What an earlier run of the service has left` {
    private static func id(_ number: Int) -> InboxEntry.ID { InboxEntry.ID(received: UInt64(number), number: 1) }

    private func kept(_ count: Int) throws -> [InboxEntry] {
        try (1...count).map { number in
            let message = try Fixture.message("https://h\(number).example/")
            return InboxEntry(id: Self.id(number), message: message, isAnnounced: true)
        }
    }

    private func restored(_ run: EarlierRun) throws -> (bench: Bench, actions: [BackgroundReader.Action]) {
        var bench = try Bench()
        bench.reader = BackgroundReader(router: try Fixture.router())
        let actions = bench.handle(.restored(run))
        return (bench, actions)
    }

    @Test func `Is as much as an inbox holds: a new tag takes the place of the oldest, also in the summary`() throws {
        let entries = try kept(BackgroundReader.maximumEntries)
        var (bench, actions) = try restored(EarlierRun(entries: entries))
        #expect(actions.summary?.ids == entries.map(\.id) && actions.count == 1)
        _ = bench.handle(.summarized(entries.map(\.id)))
        _ = bench.handle(.conditions(ReadingConditions()))
        actions = try bench.read(Fixture.link)
        guard case .store(let new)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(actions.summary?.ids == entries.dropFirst().map(\.id))
        #expect(actions.summary?.title == "99 links are waiting")
        #expect(actions.dropFirst().first == .remove(Self.id(1)))
        #expect(actions.last == .note(.forgotten(Self.id(1))))
        // What comes late for the one that is gone has no effect.
        #expect(bench.handle(.activated(Self.id(1))) == [] && bench.handle(.announced(Self.id(1))) == [])
        #expect(bench.handle(.stored(new.id, isKept: true)).announced == [new.id])
        #expect(bench.reader.keptEntries == entries.dropFirst().map(\.id) + [new.id])
    }

    @Test func `A link of the summary that was wanted is not offered again, and opens after the unlock`() throws {
        let entries = try kept(2)
        let ids = entries.map(\.id)
        let run = EarlierRun(entries: entries, summarized: Set(ids), marks: [ids[0]: .wanted])
        var (bench, actions) = try restored(run)
        #expect(actions == [])
        _ = bench.handle(.lock(isLocked: true))
        actions = bench.handle(.summaryActivated)
        #expect(actions.announced == [ids[1]] && actions.summary?.ids == [ids[0]])
        #expect(bench.handle(.lock(isLocked: false)).opened == [ids[0]])
        #expect(bench.handle(.delivered(ids[0])) == [.remove(ids[0]), .withdraw(.summary)])
    }

    @Test func `Notifications of entries that are gone are withdrawn by their age, and no others`() throws {
        let entries = try kept(2)
        let gone = (5...9).map(Self.id)
        let (_, actions) = try restored(EarlierRun(entries: entries, shown: Set(gone + entries.map(\.id))))
        #expect(actions == gone.map { .withdraw(.entry($0)) })
    }

    @Test func `A dismissed link is not shown again, and keeps its mark until it is opened`() throws {
        let entries = try kept(1)
        let id = entries[0].id
        var (bench, actions) = try restored(EarlierRun(entries: entries, marks: [id: .dismissed]))
        #expect(actions == [])
        #expect(bench.handle(.desktopReady) == [])
        _ = bench.handle(.desktopGone)
        #expect(bench.handle(.desktopReady) == [])
        // It counts as kept, and a person may still open it from the inbox.
        #expect(bench.reader.storedEntries == [id])
        actions = bench.handle(.activated(id))
        #expect(actions == [.mark(id, nil), .deliver(id, .browser("https://h1.example/"))])
        #expect(bench.handle(.delivered(id)) == [.remove(id)])
    }

    @Test func `Two tags with the message of one entry are one that has stayed, and one that has come`() throws {
        let message = try Fixture.message(Fixture.link)
        let entry = InboxEntry(id: Self.id(1), message: message, isAnnounced: true)
        var (bench, _) = try restored(EarlierRun(entries: [entry], shown: [entry.id]))
        _ = bench.handle(.conditions(ReadingConditions()))
        #expect(try bench.read(Fixture.link, tag: [1]) == [])
        #expect(try bench.read(Fixture.link, tag: [2]).count == 1)
    }

    // MARK: The summary's words

    @Test func `Three targets are named, of whatever kind they are, and of more the newest three`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...8 { _ = try bench.arrive(number) }
        var last: [BackgroundReader.Action] = []
        for (number, uri) in ["https://a.example/", "https://b.example/", "tel:%2B49123"].enumerated() {
            _ = try bench.read(uri, tag: [9, UInt8(number)])
            last = bench.handle(.stored(bench.lastID, isKept: true))
        }
        #expect(last.summary?.title == "3 links are waiting")
        #expect(last.summary?.body == "“+49123”, “b.example”, “a.example”")
        _ = try bench.read("mailto:c@d.example", tag: [9, 9])
        last = bench.handle(.stored(bench.lastID, isKept: true))
        #expect(last.summary?.body == "“c@d.example”, “+49123”, “b.example” and others")
    }
}
