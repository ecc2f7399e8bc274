// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

@Suite struct `What waits is shown` {
    private func kept(_ numbers: ClosedRange<UInt8>, isAnnounced: Bool = true) throws -> [InboxEntry] {
        try numbers.map { number in
            InboxEntry(
                id: InboxEntry.ID(received: UInt64(number), number: 1),
                message: try Fixture.message("https://h\(number).example/"),
                isAnnounced: isAnnounced
            )
        }
    }

    private func restored(_ run: EarlierRun) throws -> (bench: Bench, actions: [BackgroundReader.Action]) {
        var bench = try Bench()
        bench.reader = BackgroundReader(router: try Fixture.router())
        let actions = bench.handle(.restored(run))
        return (bench, actions)
    }

    // MARK: What is left of what could not be shown

    @Test func `What is left of a link is known: in the inbox, in memory alone, or nothing`() throws {
        var bench = try Bench()
        let kept = try bench.arrive(1).id
        #expect(bench.reader.remainder(of: .entry(kept)) == .inbox)
        guard case .store(let entry)? = try bench.read("tel:+49123", tag: [2, 2, 2, 2, 2, 2, 2]).first else {
            Issue.record("not stored")
            return
        }
        #expect(bench.reader.remainder(of: .entry(entry.id)) == .nothing)
        _ = bench.handle(.stored(entry.id, isKept: false))
        #expect(bench.reader.remainder(of: .entry(entry.id)) == .memory)
        // A link that can't be used is announced, and kept nowhere.
        for (number, uri) in ["tel:", "geo:", "mailto:"].enumerated() {
            let actions = try bench.read(uri, tag: [3, UInt8(number), 3, 3, 3, 3, 3])
            let id = try #require(actions.announced.first)
            #expect(bench.reader.remainder(of: .entry(id)) == .nothing)
        }
        #expect(bench.reader.remainder(of: .summary) == .nothing)
    }

    @Test func `A summary that can't be shown is of links that the inbox has`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...12 { _ = try bench.arrive(number) }
        #expect(bench.reader.remainder(of: .summary) == .inbox)
    }

    // MARK: Many at once

    @Test func `Of twelve tags at once eight are shown, and a summary counts the other four`() throws {
        var bench = try Bench()
        var announced: [InboxEntry.ID] = []
        var last: [BackgroundReader.Action] = []
        for number: UInt8 in 1...12 {
            let arrival = try bench.arrive(number)
            announced += arrival.actions.announced
            last = arrival.actions
        }
        #expect(announced.count == 8)
        let summary = try #require(last.summary)
        #expect(summary.ids.count == 4 && Set(summary.ids).isDisjoint(with: announced))
        #expect(summary.title == "4 links are waiting")
        #expect(bench.reader.keptEntries.count == 12)
        #expect(bench.handle(.summarized(summary.ids)) == summary.ids.map { .markAnnounced($0) })
        // A click shows each of them, and the summary goes.
        let shown = bench.handle(.summaryActivated)
        #expect(shown.announced == summary.ids)
        #expect(shown.last == .withdraw(.summary))
        for id in summary.ids { #expect(bench.handle(.announced(id)) == []) }
    }

    @Test func `A click on a summary of many shows the newest eight, and the others stay in it`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...30 { _ = try bench.arrive(number) }
        let actions = bench.handle(.summaryActivated)
        #expect(actions.announced.map(\.number) == Array(23...30))
        #expect(actions.summary?.ids.map(\.number) == Array(9...22))
        #expect(actions.summary?.title == "14 links are waiting")
    }

    @Test func `Far too many are turned away, and what can't be opened is not counted`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...32 { _ = try bench.arrive(number) }
        #expect(bench.reader.keptEntries.count == 32)
        #expect(try bench.arrive(33).actions == [.note(.tooManyArrivals)])
        #expect(try bench.arrive(34).actions == [])
        bench.now += .seconds(2)
        let next = try bench.read(Fixture.link, tag: [99])
        #expect(next.first == .note(.turnedAway(2)))
        var full = try Bench()
        for number: UInt8 in 1...8 { _ = try full.arrive(number) }
        let damaged: [UInt8] = [0xD1, 0x01, 0x00, 0x55]
        #expect(full.read(message: damaged, tag: [77]) == [.note(.tooManyArrivals)])
    }

    @Test func `What was refused is told once, with the next that is let in`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...34 { _ = try bench.arrive(number) }
        func read(_ number: UInt8) throws -> [BackgroundReader.Action] {
            try bench.read("https://example.org/buy/\(number)", tag: [number])
        }
        bench.now += .seconds(2)
        #expect(try read(35).first == .note(.turnedAway(2)))
        bench.now += .seconds(2)
        let next = try read(36)
        guard next.count == 1, case .store = next[0] else {
            Issue.record("\(next)")
            return
        }
        // The next one that is refused is the first again.
        #expect(try read(37) == [.note(.tooManyArrivals)])
        #expect(try read(38) == [])
    }

    @Test func `Notifications are earned one in two seconds, and no part of that time is lost between`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...8 { #expect(try bench.arrive(number).actions.announced.count == 1) }
        // None at 1.9 seconds, the first at 3, the second at 4: the remainder of the third second counts.
        let times: [(milliseconds: Int, announced: Int)] = [
            (1900, 0), (3000, 1), (3900, 0), (4000, 1), (5999, 0), (6000, 1),
        ]
        for (index, time) in times.enumerated() {
            bench.now = .milliseconds(time.milliseconds)
            let arrival = try bench.arrive(UInt8(9 + index))
            #expect(arrival.actions.announced.count == time.announced, "\(time)")
        }
        // After a rest of 16 seconds all eight are there again, and not one more.
        bench.now = .seconds(22)
        for number: UInt8 in 21...28 { #expect(try bench.arrive(number).actions.announced.count == 1) }
        #expect(try bench.arrive(29).actions.announced == [])
    }

    @Test func `The summary follows what is opened and cleared, and goes with the last`() throws {
        var bench = try Bench()
        for number: UInt8 in 1...10 { _ = try bench.arrive(number) }
        let (first, second) = (InboxEntry.ID(received: 1, number: 9), InboxEntry.ID(received: 1, number: 10))
        #expect(bench.handle(.cleared(first)).summary?.title == "1 link is waiting")
        guard case .deliver(second, _)? = bench.handle(.activated(second)).first else {
            Issue.record("not opened")
            return
        }
        #expect(bench.handle(.delivered(second)) == [.remove(second), .withdraw(.summary)])
    }

    @Test func `Hosts are named, the newest first and each once`() throws {
        var bench = try Bench()
        var last: [BackgroundReader.Action] = []
        let hosts = ["a", "b", "a", "c", "d"]
        for number: UInt8 in 1...8 { _ = try bench.arrive(number) }
        for (index, host) in hosts.enumerated() {
            last = try bench.arrive(UInt8(index + 9), at: "\(host).example").actions
        }
        #expect(last.summary?.body == "“d.example”, “c.example”, “a.example” and others")
    }

    // MARK: After a restart

    @Test func `After a restart of what shows notifications, one entry is shown again, and several are counted`() throws
    {
        var bench = try Bench()
        let one = try bench.arriveAndShow(1...1)
        #expect(bench.handle(.desktopGone) == [])
        let again = bench.handle(.desktopReady)
        #expect(again.announced == one && again.count == 1)
        #expect(bench.handle(.announced(one[0])) == [])
        let all = one + (try bench.arriveAndShow(2...3))
        #expect(bench.handle(.desktopReady) == [])
        _ = bench.handle(.desktopGone)
        let summary = try #require(bench.handle(.desktopReady).summary)
        #expect(summary.ids == all && summary.title == "3 links are waiting")
        // A second restart shows it again.
        _ = bench.handle(.desktopGone)
        #expect(bench.handle(.desktopReady).summary?.ids == all)
    }

    @Test func `After a new login what waits is counted, but what is still shown, or was dismissed, is left alone`()
        throws
    {
        let entries = try kept(1...5)
        let ids = entries.map(\.id)
        let (_, all) = try restored(EarlierRun(entries: entries))
        #expect(all.summary?.ids == ids && all.count == 1)
        let (_, some) = try restored(
            EarlierRun(entries: entries, shown: [ids[0]], marks: [ids[1]: .dismissed])
        )
        #expect(some.summary?.ids == Array(ids[2...]))
        let (_, none) = try restored(EarlierRun(entries: entries, shown: Set(ids)))
        #expect(none == [])
        let (_, one) = try restored(EarlierRun(entries: try kept(1...1)))
        #expect(one.announced == [ids[0]] && one.count == 1)
    }

    @Test func `Entries that are found in any order are counted by their age`() throws {
        let entries = try kept(1...5)
        let (_, actions) = try restored(EarlierRun(entries: entries.reversed()))
        #expect(actions.summary?.ids == entries.map(\.id))
        #expect(actions.summary?.body == "“h5.example”, “h4.example”, “h3.example” and others")
    }

    @Test func `A summary that is still shown is taken over, and follows what went meanwhile`() throws {
        let entries = try kept(1...4)
        let ids = entries.map(\.id)
        var (bench, actions) = try restored(EarlierRun(entries: entries, summarized: Set(ids)))
        #expect(actions == [])
        #expect(bench.handle(.summaryActivated).announced == ids)
        let gone = InboxEntry.ID(received: 77, number: 1)
        (bench, actions) = try restored(EarlierRun(entries: entries, summarized: Set(ids + [gone])))
        #expect(actions.summary?.ids == ids)
        (bench, actions) = try restored(EarlierRun(shown: [gone], summarized: Set(ids)))
        #expect(actions == [.withdraw(.entry(gone)), .withdraw(.summary)])
        // What was not announced is counted with the others.
        let new = try kept(5...5, isAnnounced: false)
        (bench, actions) = try restored(EarlierRun(entries: entries + new, summarized: Set(ids)))
        #expect(actions.summary?.ids == ids + new.map(\.id))
        #expect(bench.handle(.summarized(ids + new.map(\.id))) == [.markAnnounced(new[0].id)])
    }

    @Test func `An entry without a link is in the inbox alone, and that is noted once`() throws {
        let odd = InboxEntry(id: InboxEntry.ID(received: 3, number: 1), message: [1, 2, 3])
        let (_, actions) = try restored(EarlierRun(entries: [odd]))
        #expect(actions == [.note(.nothingToOpen(odd.id))])
        var announced = odd
        announced.isAnnounced = true
        #expect(try restored(EarlierRun(entries: [announced])).actions == [])
        #expect(try restored(EarlierRun(entries: [odd] + kept(1...1))).actions.announced.count == 1)
    }

    // MARK: What can't be shown, and what is closed

    @Test func `What could not be shown is shown with the next that can, or when the desktop is ready`() throws {
        var bench = try Bench()
        let (first, second) = (try bench.arrive(1).id, try bench.arrive(2).id)
        #expect(bench.handle(.notShown(.entry(first))) == [])
        #expect(bench.handle(.announced(second)) == [.markAnnounced(second)] + bench.announcement(of: first))
        #expect(bench.handle(.notShown(.entry(first))) == [])
        #expect(bench.handle(.desktopReady).announced == [first])
        // A summary as well.
        var full = try Bench()
        for number: UInt8 in 1...10 { _ = try full.arrive(number) }
        #expect(full.handle(.notShown(.summary)) == [])
        #expect(full.handle(.desktopReady).summary?.ids.count == 2)
    }

    @Test func `What the person dismisses is remembered, and what expires is shown after the next restart`() throws {
        var bench = try Bench()
        let ids = try bench.arriveAndShow(1...2)
        #expect(bench.handle(.closed(.entry(ids[0]), isDismissed: true)) == [.mark(ids[0], .dismissed)])
        #expect(bench.handle(.closed(.entry(ids[1]), isDismissed: false)) == [])
        #expect(bench.handle(.desktopReady) == [])
        // It can still be opened, and is forgotten with its mark.
        #expect(bench.handle(.activated(ids[0])).opened == [ids[0]])
        #expect(bench.handle(.delivered(ids[0])) == [.remove(ids[0])])
        _ = bench.handle(.desktopGone)
        #expect(bench.handle(.desktopReady).announced == [ids[1]])
        var full = try Bench()
        for number: UInt8 in 1...10 { _ = try full.arrive(number) }
        let marks = full.handle(.closed(.summary, isDismissed: true))
        #expect(marks.count == 2)
        #expect(full.handle(.summaryActivated) == [])
        // The next summary counts from there.
        #expect(try full.arrive(11).actions.summary?.ids.count == 1)
    }

    @Test func `A link that could not be opened says why`() throws {
        var bench = try Bench()
        let id = try bench.arriveAndShow(1...1)[0]
        _ = bench.handle(.activated(id))
        _ = bench.handle(.closed(.entry(id), isDismissed: false))
        #expect(
            bench.handle(.deliveryFailed(id, reason: "No app.")) == [
                .note(.notDelivered(id)), .announce(id, .notOpened(reason: "No app.")),
            ]
        )
        #expect(bench.handle(.announced(id)) == [])
        #expect(bench.handle(.cleared(id)) == [.withdraw(.entry(id))])
    }
}

extension Bench {
    /// The actions that show an entry in its own notification.
    fileprivate func announcement(of id: InboxEntry.ID) -> [BackgroundReader.Action] {
        let link = "https://example.org/buy/\(id.number)"
        guard let uri = TagURI(link), let content = NotificationContent(uri, router: reader.router) else { return [] }
        return [.announce(id, content)]
    }
}
