// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import Testing

@Suite struct `Reading in the background` {
    @Test func `A tag on the reader during a restart of the service is not announced twice`() throws {
        var bench = try Bench()
        bench.reader = BackgroundReader(router: try Fixture.router())
        let entry = InboxEntry(
            id: InboxEntry.ID(received: 1, number: 99),
            message: try Fixture.message(Fixture.link),
            isAnnounced: true
        )
        #expect(bench.handle(.restored(EarlierRun(entries: [entry], shown: [entry.id]))) == [])
        #expect(bench.handle(.conditions(ReadingConditions())) == [.startLooking])
        #expect(try bench.read(Fixture.link) == [])
        // Another tag, and the same one when it comes again, are arrivals.
        #expect(try bench.read("https://example.org/buy/43", tag: [9, 9, 9, 9]).count == 1)
        #expect(bench.handle(.near([])) == [])
        bench.now += .seconds(1)
        #expect(try bench.read(Fixture.link).count == 1)
    }

    @Test func `An arrival is stored, announced, opened and forgotten, in this order`() throws {
        var bench = try Bench()
        let message = try Fixture.message(Fixture.link)
        #expect(try bench.read(Fixture.link) == [.store(InboxEntry(id: bench.lastID, message: message))])
        let id = bench.lastID
        guard case .announce(id, let content) = bench.handle(.stored(id, isKept: true)).first else {
            Issue.record("not announced")
            return
        }
        #expect(content.host == "example.org")
        #expect(bench.handle(.announced(id)) == [.markAnnounced(id)])
        let payload = try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: Fixture.link,
            message: message
        )
        #expect(bench.handle(.activated(id)) == [.deliver(id, .app(Fixture.reader, payload))])
        #expect(bench.handle(.activated(id)) == [])
        #expect(bench.handle(.delivered(id)) == [.remove(id), .withdraw(.entry(id))])
        #expect(bench.handle(.activated(id)) == [])
    }

    @Test func `One that another process is opening is not opened, says so, and can be clicked again`() throws {
        var bench = try Bench()
        let id = try bench.arriveAndShow(1...1)[0]
        _ = bench.handle(.activated(id))
        #expect(bench.handle(.beingOpened(id)) == [.announce(id, .beingOpened)])
        #expect(bench.handle(.delivered(id)) == [])
        guard case .deliver(id, _)? = bench.handle(.activated(id)).first else {
            Issue.record("not opened")
            return
        }
        _ = bench.handle(.beingOpened(id))
        // The other process has opened it, and removed it.
        #expect(bench.handle(.cleared(id)) == [.withdraw(.entry(id))])
    }

    @Test func `One that the disk did not take is not among those that are stored, and is stored when it can be`()
        throws
    {
        var bench = try Bench()
        let message = try Fixture.message(Fixture.link)
        _ = try bench.read(Fixture.link)
        let id = bench.lastID
        _ = bench.handle(.stored(id, isKept: false))
        #expect(bench.reader.keptEntries == [id] && bench.reader.storedEntries == [])
        _ = bench.handle(.announced(id))
        let again = bench.handle(.storeAgain)
        #expect(again == [.store(InboxEntry(id: id, message: message, isAnnounced: true))])
        #expect(bench.handle(.stored(id, isKept: false)) == [])
        // What is being opened goes then, and is not written.
        _ = bench.handle(.activated(id))
        #expect(bench.handle(.storeAgain) == [])
        _ = bench.handle(.deliveryFailed(id, reason: "x"))
        #expect(bench.handle(.stored(id, isKept: true)) == [.note(.kept(id))])
        #expect(bench.reader.storedEntries == [id])
        #expect(bench.reader.remainder(of: .entry(id)) == .inbox)
        #expect(bench.handle(.storeAgain) == [])
    }

    @Test func `One that is not on the disk and could not be opened is stored then`() throws {
        let message = try Fixture.message(Fixture.link)
        for isLost in [false, true] {
            var bench = try Bench()
            _ = try bench.read(Fixture.link)
            let id = bench.lastID
            _ = bench.handle(.stored(id, isKept: isLost))
            _ = bench.handle(.announced(id))
            _ = bench.handle(.activated(id))
            // The disk is tried again, or the folder is lost, while the app starts.
            if isLost { _ = bench.handle(.inboxLost) }
            #expect(bench.handle(.storeAgain) == [])
            let actions = bench.handle(.deliveryFailed(id, reason: "x"))
            #expect(actions.contains(.store(InboxEntry(id: id, message: message, isAnnounced: true))))
            #expect(bench.handle(.stored(id, isKept: true)) == [.note(.kept(id))])
            #expect(bench.reader.storedEntries == [id])
            // What is on the disk is noted once, and is not stored when it can't be opened again.
            #expect(bench.handle(.stored(id, isKept: true)) == [])
            _ = bench.handle(.activated(id))
            #expect(bench.handle(.deliveryFailed(id, reason: "x")).count == 2)
        }
    }

    @Test func `What the disk has no more is written again`() throws {
        var bench = try Bench()
        let ids = try bench.arriveAndShow(1...2)
        #expect(bench.reader.storedEntries == ids)
        #expect(bench.handle(.inboxLost) == [])
        #expect(bench.reader.storedEntries == [] && bench.reader.keptEntries == ids)
        let stored = bench.handle(.storeAgain).compactMap { action -> InboxEntry? in
            if case .store(let entry) = action { entry } else { nil }
        }
        #expect(stored.map(\.id) == ids)
        #expect(stored.allSatisfy { $0.isAnnounced })
        for id in ids { #expect(bench.handle(.stored(id, isKept: true)) == [.note(.kept(id))]) }
        #expect(bench.reader.storedEntries == ids)
    }

    @Test func `One that is being saved when the disk is lost is not written a second time`() throws {
        var bench = try Bench()
        _ = try bench.read(Fixture.link)
        let id = bench.lastID
        #expect(bench.handle(.inboxLost) == [])
        #expect(bench.handle(.storeAgain) == [])
        _ = bench.handle(.stored(id, isKept: true))
        #expect(bench.reader.storedEntries == [id])
    }

    @Test func `The largest message is kept, and one byte more is too large`() throws {
        var bench = try Bench()
        let largest = try Fixture.message(Fixture.link, count: BackgroundReader.maximumMessageSize)
        #expect(bench.read(message: largest) == [.store(InboxEntry(id: bench.lastID, message: largest))])
        let larger = try Fixture.message(Fixture.link, count: BackgroundReader.maximumMessageSize + 1)
        #expect(bench.read(message: larger, tag: [2]) == [.note(.badMessage)])
    }

    @Test func `After a wrong clock the oldest entry goes, and not the newest`() throws {
        let message = try Fixture.message("https://b.example/")
        let early = (1...BackgroundReader.maximumEntries).map { number in
            InboxEntry(id: InboxEntry.ID(received: 1000, number: UInt32(number)), message: message, isAnnounced: true)
        }
        var bench = try Bench()
        _ = bench.handle(.restored(EarlierRun(entries: early)))
        let actions = try bench.read(Fixture.link)
        guard case .store(let entry)? = actions.first else {
            Issue.record("not stored")
            return
        }
        let isLast = early.allSatisfy { $0.id < entry.id }
        #expect(isLast)
        #expect(actions.contains(.remove(early[0].id)))
        _ = bench.handle(.stored(entry.id, isKept: true))
        #expect(bench.reader.storedEntries.max() == entry.id)
    }

    @Test func `A click does what was shown: when the link goes elsewhere by now, that is shown first`() throws {
        var bench = try Bench()
        _ = try bench.read(Fixture.link)
        let id = bench.lastID
        _ = bench.handle(.stored(id, isKept: true))
        _ = bench.handle(.announced(id))
        // The app is gone.
        #expect(bench.handle(.router(LinkRouter(browserNames: ["https": "Fox"]))) == [])
        guard case .announce(id, let content) = bench.handle(.activated(id)).first else {
            Issue.record("not shown again")
            return
        }
        #expect(content.body == "Open “example.org” in Fox")
        // It is the same place: what was read since changes nothing that was shown.
        _ = bench.handle(.router(LinkRouter(browserNames: ["https": "Fox", "http": "Other"])))
        #expect(bench.handle(.activated(id)) == [.deliver(id, .browser(Fixture.link))])
        // After a failure the notification says why, and a click tries again.
        _ = bench.handle(.deliveryFailed(id, reason: "It is off."))
        _ = bench.handle(.router(LinkRouter()))
        #expect(bench.handle(.activated(id)) == [.deliver(id, .browser(Fixture.link))])
    }

    @Test func `Conditions start and stop looking, and a reading that comes too late has no effect`() throws {
        var bench = try Bench()
        #expect(bench.handle(.conditions(ReadingConditions(isCameraActive: true))) == [.stopLooking])
        #expect(bench.handle(.conditions(ReadingConditions(isDisplayOn: false, isCameraActive: true))) == [])
        #expect(try bench.read(Fixture.link) == [.note(.notEligible([.displayOff, .camera]))])
        #expect(bench.handle(.conditions(ReadingConditions())) == [.startLooking])
    }

    @Test func `A reader that does not answer is looked for, and nothing counts as read before it does`() throws {
        var bench = try Bench()
        bench.reader = BackgroundReader(router: try Fixture.router())
        #expect(!bench.reader.isLooking)
        #expect(bench.handle(.conditions(ReadingConditions(isSupported: false))) == [.startLooking])
        #expect(bench.reader.isLooking && !bench.reader.conditions.allowReading)
        #expect(try bench.read(Fixture.link) == [.note(.notEligible([.unsupported]))])
        #expect(bench.handle(.conditions(ReadingConditions())) == [])
        #expect(try bench.read(Fixture.link).count == 1)
        // The reader is unplugged with the tag on it, and plugged in again with the tag still on it.
        #expect(bench.handle(.conditions(ReadingConditions(isSupported: false))) == [])
        bench.now += .seconds(90)
        #expect(bench.handle(.conditions(ReadingConditions())) == [])
        #expect(bench.handle(.near([Bench.tag])) == [])
        #expect(try bench.read(Fixture.link) == [])
        #expect(bench.handle(.conditions(ReadingConditions(isSupported: false, isDisplayOn: false))) == [.stopLooking])
    }

    @Test func `A tag that stays is announced once`() throws {
        var bench = try Bench()
        #expect(try bench.read(Fixture.link).count == 1)
        for _ in 0..<100 {
            bench.now += .seconds(30)
            #expect(try bench.read(Fixture.link) == [])
            _ = bench.handle(.conditions(ReadingConditions(isDisplayOn: false)))
            bench.now += .seconds(600)
            _ = bench.handle(.conditions(ReadingConditions()))
            bench.now += .milliseconds(200)
            #expect(try bench.read("https://example.org/buy/\(bench.count)") == [])
        }
    }

    @Test func `A tag that was away is announced again, and one that flickers is not`() throws {
        var bench = try Bench()
        _ = try bench.read(Fixture.link)
        _ = bench.handle(.near([]))
        bench.now += .milliseconds(499)
        #expect(try bench.read(Fixture.link) == [])
        _ = bench.handle(.near([[9, 9]]))
        bench.now += .milliseconds(500)
        #expect(try bench.read(Fixture.link).count == 1)
        _ = bench.handle(.near([]))
        bench.now += .seconds(1)
        #expect(try bench.read(Fixture.link).count == 1)
    }

    @Test func `An unusable link is announced, and a tag without a link is not`() throws {
        var bench = try Bench()
        let damaged = try NDEFMessage([NDEFRecord.known("U", payload: [])]).encoded()
        #expect(
            bench.read(message: damaged) == [.note(.unusableLink), .announce(bench.lastID, .unusable)]
        )
        #expect(bench.read(message: nil, tag: [1]) == [.note(.noMessage)])
        #expect(bench.read(message: [0xFF], tag: [2]) == [.note(.badMessage)])
        #expect(bench.read(message: Array(repeating: 0, count: 70_000), tag: [3]) == [.note(.badMessage)])
        let text = try NDEFMessage([NDEFRecord.text("x", language: "en")]).encoded()
        #expect(bench.read(message: text, tag: [4]) == [.note(.noLink)])
        #expect(try bench.read("reader:x", tag: [5]) == [.note(.refused(.customScheme))])
        var lenient = try Bench(custom: true)
        #expect(try lenient.read("reader:x").count == 1)
        #expect(try lenient.read("file:///x", tag: [6]) == [.note(.refused(.noApp))])
    }

    @Test func `Of 10,000 arrivals in a minute few are let in, and the log stays short`() throws {
        var bench = try Bench()
        var stored = 0
        var notes = 0
        for number in 0..<10_000 {
            bench.now += .milliseconds(6)
            for action in try bench.read(
                "https://example.org/buy/\(number)",
                tag: [1, UInt8(number >> 8), UInt8(number & 255)]
            ) {
                switch action {
                case .store: stored += 1
                case .note: notes += 1
                default: Issue.record("\(action)")
                }
            }
        }
        // 8 at once and one every 2 s get a notification; 24 and one every 10 s are counted in the summary.
        #expect(stored == 8 + 29 + 24 + 5)
        #expect(notes <= 2 * stored)
        bench.now += .seconds(60)
        #expect(try bench.read(Fixture.link).contains { if case .store = $0 { true } else { false } })
    }

    @Test func `Of too many entries the oldest is forgotten`() throws {
        var bench = try Bench()
        for number in 0..<UInt8(BackgroundReader.maximumEntries) {
            bench.now += .seconds(3)
            #expect(try bench.read(Fixture.link, tag: [number]).count == 1)
        }
        bench.now += .seconds(3)
        let first = InboxEntry.ID(received: 1, number: 1)
        #expect(
            try bench.read(Fixture.link, tag: [1, 1]).dropFirst() == [
                .remove(first), .withdraw(.entry(first)), .note(.forgotten(first)),
            ]
        )
    }
}
