// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// What a person sees of tags and notifications, event by event.
@Suite struct `What a person sees, event by event` {
    private func body(_ actions: [BackgroundReader.Action]) -> String? {
        for case .announce(_, let content) in actions { return content.body }
        return nil
    }

    // MARK: Tags

    @Test(arguments: [
        ReadingConditions(wasUnlocked: false), ReadingConditions(isDisplayOn: false),
        ReadingConditions(isReaderSessionActive: true), ReadingConditions(isWalletActive: true),
        ReadingConditions(isCameraActive: true), ReadingConditions(isAirplaneModeOn: true),
    ])
    func `A tag that comes while nothing is read has not arrived, and arrives when it is read again`(
        _ conditions: ReadingConditions
    ) throws {
        var bench = try Bench()
        #expect(bench.handle(.conditions(conditions)) == [.stopLooking])
        #expect(try bench.arrive(1).actions == [.note(.notEligible(conditions.obstacles))])
        #expect(bench.handle(.conditions(ReadingConditions())) == [.startLooking])
        #expect(try bench.arrive(1).actions.announced == [bench.lastID])
    }

    @Test func `A tag that is tapped again within a second has a second notification, and a flicker has none`() throws {
        var bench = try Bench()
        let first = try bench.arriveAndShow(1...1)[0]
        _ = bench.handle(.near([]))
        bench.now += .milliseconds(400)
        #expect(try bench.arrive(1).actions == [])
        _ = bench.handle(.near([]))
        bench.now += .milliseconds(600)
        let second = try bench.arrive(1)
        #expect(second.id != first && second.actions.announced == [second.id])
        #expect(bench.reader.keptEntries == [first, second.id])
    }

    @Test func `Of two tags whose notifications wait a click opens the one that was clicked`() throws {
        var bench = try Bench()
        let ids = try bench.arriveAndShow(1...2)
        guard case .deliver(ids[1], .app(let app, let payload))? = bench.handle(.activated(ids[1])).first else {
            Issue.record("not opened")
            return
        }
        #expect(app == Fixture.reader && payload.webpageURL == "https://example.org/buy/2")
        #expect(bench.handle(.delivered(ids[1])) == [.remove(ids[1]), .withdraw(.entry(ids[1]))])
        #expect(bench.reader.keptEntries == [ids[0]])
    }

    @Test func `Conditions that are reported again are no new beginning of reading`() throws {
        var bench = try Bench()
        #expect(try bench.read(Fixture.link, tag: [8, 1, 2, 3]).count == 1)
        _ = bench.handle(.conditions(ReadingConditions(isDisplayOn: false)))
        bench.now += .seconds(60)
        #expect(bench.handle(.conditions(ReadingConditions())) == [.startLooking])
        bench.now += .milliseconds(900)
        #expect(bench.handle(.conditions(ReadingConditions())) == [])
        // A second and a half after reading began, a tag without an identifier of its own is another one.
        bench.now += .milliseconds(600)
        #expect(try bench.read(Fixture.link, tag: [8, 4, 5, 6]).count == 1)
    }

    // MARK: The lock

    @Test func `What arrives on a locked screen says what a click does, and opens with one after the unlock`() throws {
        var bench = try Bench()
        _ = bench.handle(.lock(isLocked: true))
        let arrival = try bench.arrive(1)
        guard case .announce(arrival.id, let content)? = arrival.actions.first else {
            Issue.record("not shown")
            return
        }
        #expect(content.body == "Open “example.org” in Reader" && content.actionTitle == "Open")
        _ = bench.handle(.announced(arrival.id))
        #expect(bench.handle(.lock(isLocked: false)) == [])
        let actions = bench.handle(.activated(arrival.id))
        guard case .deliver(arrival.id, _)? = actions.first, actions.count == 1 else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test func `A link that failed before the screen was locked asks to unlock when it is tried again`() throws {
        var bench = try Bench()
        let id = try bench.arriveAndShow(1...1)[0]
        _ = bench.handle(.activated(id))
        #expect(bench.handle(.lock(isLocked: true)) == [])
        #expect(bench.handle(.deliveryFailed(id, reason: "No app.")).announced == [id])
        let again = bench.handle(.activated(id))
        #expect(again.first == .mark(id, .wanted) && again.last == .requestUnlock && again.count == 3)
        #expect(body(again) == "Unlock to open “example.org”")
        #expect(bench.handle(.lock(isLocked: false)).opened == [id])
    }

    @Test func `On a locked screen a click whose link goes elsewhere by now first shows where, and wants nothing`()
        throws
    {
        var bench = try Bench()
        _ = bench.handle(.lock(isLocked: true))
        let id = try bench.arriveAndShow(1...1)[0]
        _ = bench.handle(.router(LinkRouter(browserNames: ["https": "Fox"])))
        let first = bench.handle(.activated(id))
        #expect(first.count == 1 && body(first) == "Open “example.org” in Fox")
        var other = bench
        #expect(other.handle(.lock(isLocked: false)) == [])
        let second = bench.handle(.activated(id))
        #expect(second.first == .mark(id, .wanted) && second.last == .requestUnlock && second.count == 3)
        let opened = bench.handle(.lock(isLocked: false))
        #expect(opened == [.mark(id, nil), .deliver(id, .browser("https://example.org/buy/1"))])
    }

    // MARK: What goes nowhere, and what goes meanwhile

    @Test func `A link that goes nowhere by now opens nothing, stays in the inbox, and goes with its notification`()
        throws
    {
        for isLocked in [false, true] {
            var bench = try Bench(custom: true)
            _ = try bench.read("reader:x")
            let id = bench.lastID
            _ = bench.handle(.stored(id, isKept: true))
            _ = bench.handle(.announced(id))
            _ = bench.handle(.router(try Fixture.router()))
            if isLocked {
                _ = bench.handle(.lock(isLocked: true))
                #expect(bench.handle(.activated(id)) == [.mark(id, .wanted), .requestUnlock])
                #expect(bench.handle(.lock(isLocked: false)) == [.mark(id, nil), .note(.nothingToOpen(id))])
            } else {
                for _ in 0..<2 { #expect(bench.handle(.activated(id)) == [.note(.nothingToOpen(id))]) }
            }
            #expect(bench.reader.keptEntries == [id])
            #expect(bench.handle(.cleared(id)) == [.withdraw(.entry(id))])
        }
    }

    @Test func `What is removed from the inbox while it is being opened is gone, however that ends`() throws {
        let ends: [(InboxEntry.ID) -> BackgroundReader.Input] = [
            { .delivered($0) }, { .deliveryFailed($0, reason: "x") }, { .beingOpened($0) },
        ]
        for end in ends {
            var bench = try Bench()
            let id = try bench.arriveAndShow(1...1)[0]
            _ = bench.handle(.activated(id))
            #expect(bench.handle(.cleared(id)) == [.withdraw(.entry(id))])
            #expect(bench.handle(end(id)) == [] && bench.reader.keptEntries == [])
            #expect(bench.handle(.announced(id)) == [] && bench.handle(.stored(id, isKept: true)) == [])
        }
    }

    @Test func `A notification that is dismissed while its link is being opened leaves no mark`() throws {
        var bench = try Bench()
        let id = try bench.arriveAndShow(1...1)[0]
        _ = bench.handle(.activated(id))
        #expect(bench.handle(.closed(.entry(id), isDismissed: true)) == [])
        var other = bench
        #expect(bench.handle(.delivered(id)) == [.remove(id)])
        // What was not opened is shown again, and opens with a click.
        #expect(other.handle(.deliveryFailed(id, reason: "x")).announced == [id])
        guard case .deliver(id, _)? = other.handle(.activated(id)).first else {
            Issue.record("not opened")
            return
        }
    }

    @Test func `The name of an entry has 48 bits for its time`() {
        let id = InboxEntry.ID(received: 0x1_0000_0000_0005, number: 1)
        #expect(id.received == 5 && InboxEntry.ID(id.description) == id)
    }
}
