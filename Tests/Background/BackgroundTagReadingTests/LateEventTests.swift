// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// Events that come late, twice, or at a moment at which nobody expects them.
@Suite struct `Events that come late or twice` {
    @Test func `What is not saved yet is opened by nobody, and counts neither as kept nor as stored`() throws {
        var bench = try Bench()
        let id = try bench.readUnsaved(1)
        #expect(bench.handle(.activated(id)) == [])
        #expect(bench.reader.keptEntries == [] && bench.reader.storedEntries == [])
        #expect(bench.handle(.stored(id, isKept: true)).announced == [id])
        #expect(bench.reader.keptEntries == [id] && bench.reader.storedEntries == [id])
    }

    @Test func `What the disk does not take is noted, and shown all the same`() throws {
        var bench = try Bench()
        let id = try bench.readUnsaved(1)
        let actions = bench.handle(.stored(id, isKept: false))
        #expect(actions.first == .note(.notKept(id)) && actions.announced == [id] && actions.count == 2)
    }

    @Test func `A failure counts once, and only while the link is being opened`() throws {
        var bench = try Bench()
        let id = try bench.arriveAndShow(1...1)[0]
        #expect(bench.handle(.deliveryFailed(id, reason: "x")) == [])
        #expect(bench.handle(.beingOpened(id)) == [])
        _ = bench.handle(.activated(id))
        #expect(bench.handle(.deliveryFailed(id, reason: "x")).announced == [id])
        #expect(bench.handle(.deliveryFailed(id, reason: "x")) == [])
        #expect(bench.handle(.beingOpened(id)) == [])
    }

    @Test func `A desktop that comes back while a link is being opened does not show it again`() throws {
        var bench = try Bench()
        let id = try bench.arriveAndShow(1...1)[0]
        _ = bench.handle(.activated(id))
        #expect(bench.handle(.desktopGone) == [])
        #expect(bench.handle(.desktopReady) == [])
        // It is shown when it could not be opened, and else it is gone without a notification to withdraw.
        var other = bench
        #expect(other.handle(.deliveryFailed(id, reason: "x")).announced == [id])
        #expect(bench.handle(.delivered(id)) == [.remove(id)])
    }

    @Test func `What is dismissed before the desktop says that it was shown is not shown any more`() throws {
        var bench = try Bench()
        let id = try bench.arrive(1).id
        #expect(bench.handle(.closed(.entry(id), isDismissed: true)) == [.mark(id, .dismissed)])
        #expect(bench.handle(.announced(id)) == [.markAnnounced(id)])
        // There is no notification to withdraw, and the mark goes with the entry.
        #expect(bench.handle(.cleared(id)) == [.mark(id, nil)])
    }

    @Test func `What could not be shown is counted as soon as a summary is shown`() throws {
        var bench = try Bench()
        let ids = try (UInt8(1)...10).map { try bench.arrive($0).id }
        #expect(bench.handle(.notShown(.entry(ids[0]))) == [])
        let actions = bench.handle(.summarized(Array(ids[8...])))
        #expect(actions.prefix(2) == [.markAnnounced(ids[8]), .markAnnounced(ids[9])])
        #expect(actions.summary?.ids == [ids[0], ids[8], ids[9]] && actions.count == 3)
    }

    @Test func `One that is counted and saved only after the desktop is gone is still counted`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...8 { _ = try bench.arrive(number) }
        let id = try bench.readUnsaved(9)
        #expect(bench.handle(.desktopGone) == [])
        let actions = bench.handle(.stored(id, isKept: true))
        #expect(actions.summary?.ids == [id] && actions.announced == [])
    }

    @Test func `A link that was wanted before a restart opens with a click when the screen is unlocked by then`() throws
    {
        let id = InboxEntry.ID(received: 1, number: 1)
        let entry = InboxEntry(id: id, message: try Fixture.message(Fixture.link), isAnnounced: true)
        var reader = BackgroundReader(router: try Fixture.router(), isLocked: false)
        let run = EarlierRun(entries: [entry], shown: [id], marks: [id: .wanted])
        #expect(reader.handle(.restored(run), now: .zero) == [])
        #expect(reader.handle(.activated(id), now: .zero).opened == [id])
    }

    @Test func `Of too many entries that an earlier run has left the oldest are dropped`() throws {
        let message = try Fixture.message(Fixture.link)
        let entries = (1...BackgroundReader.maximumEntries + 1).map { number in
            InboxEntry(id: InboxEntry.ID(received: UInt64(number), number: 1), message: message, isAnnounced: true)
        }
        let marks = Dictionary(uniqueKeysWithValues: entries.map { ($0.id, EntryMark.dismissed) })
        var reader = BackgroundReader(router: try Fixture.router())
        let actions = reader.handle(.restored(EarlierRun(entries: entries, marks: marks)), now: .zero)
        #expect(actions == [.remove(entries[0].id), .note(.forgotten(entries[0].id))])
        #expect(reader.keptEntries == entries.dropFirst().map(\.id))
    }

    @Test func `Tags whose links go nowhere take no notification from the others`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...40 {
            #expect(try bench.read("reader:\(number)", tag: [number, 1]) == [.note(.refused(.customScheme))])
        }
        for number: UInt8 in 1...8 { #expect(try bench.arrive(number).actions.announced.count == 1) }
    }

    @Test func `Tags whose links can't be read take no place in the summary`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...8 { _ = try bench.arrive(number) }
        let damaged: [UInt8] = [0xD1, 0x01, 0x00, 0x55]
        for number: UInt8 in 1...40 {
            let actions = bench.read(message: damaged, tag: [number, 1])
            #expect(actions == (number == 1 ? [.note(.tooManyArrivals)] : []))
        }
        let actions = try bench.read("https://example.org/buy/9", tag: [9, 2])
        #expect(actions.first == .note(.turnedAway(40)) && actions.count == 2)
        #expect(bench.handle(.stored(bench.lastID, isKept: true)).summary?.ids == [bench.lastID])
    }

    @Test func `What was announced before a desktop went is noted once, and shown again without a note`() throws {
        var bench = try Bench()
        let id = try bench.arrive(1).id
        #expect(bench.handle(.announced(id)) == [.markAnnounced(id)])
        _ = bench.handle(.desktopGone)
        #expect(bench.handle(.desktopReady).announced == [id])
        #expect(bench.handle(.announced(id)) == [])
        #expect(bench.handle(.desktopReady) == [])
    }

    @Test func `A name that is taken is followed by the next one`() {
        let id = InboxEntry.ID(received: 1, number: 7)
        #expect(id.following([id]) == InboxEntry.ID(received: 1, number: 8))
    }
}
