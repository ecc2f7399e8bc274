// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import Testing

/// What is done with the link of a tag, from the reading to its end. See ``Bench`` for the scripts.
struct ReaderTests {
    private func run(_ script: String, custom: Bool = false, at place: SourceLocation = #_sourceLocation) throws {
        var bench = try Bench(custom: custom)
        try bench.run(script, at: place)
    }

    // MARK: One link

    @Test func `link: stored, shown, opened and removed, each once and in this order`() throws {
        try run(
            """
            read 1 -> store 1
            click 1 -> nothing
            kept -> nothing
            saved 1 -> show 1
            kept -> 1
            shown 1 -> announced 1
            click 1 -> open 1
            click 1 -> nothing
            opened 1 -> remove 1, hide 1
            click 1 -> nothing
            shown 1 -> nothing
            """
        )
    }

    @Test func `link: the app gets the message and the URL, the notification names the app`() throws {
        var bench = try Bench()
        let message = try Fixture.message(Fixture.link)
        #expect(bench.read(message: message, tag: [1]) == [.store(InboxEntry(id: bench.lastID, message: message))])
        let id = bench.lastID
        guard case .announce(id, let content)? = bench.handle(.stored(id, isKept: true)).first else {
            Issue.record("not announced")
            return
        }
        #expect(content.host == "example.org" && content.body == "Open “example.org” in Reader")
        #expect(content.actionTitle == "Open")
        let payload = try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: Fixture.link,
            message: message
        )
        #expect(bench.handle(.activated(id)) == [.deliver(id, .app(Fixture.reader, payload))])
    }

    @Test func `two notifications: a click on the second opens the second link, the first stays in the inbox`() throws {
        try run("bring 1-2\nclick 2 -> open 2\nopened 2 -> remove 2, hide 2\nkept -> 1")
    }

    @Test func `failed link: shown with the reason, once, and a click tries again`() throws {
        try run(
            """
            bring 1
            failed 1 -> nothing
            busy 1 -> nothing
            click 1 -> open 1
            expire 1 -> nothing
            failed 1 -> note notDelivered 1, show 1 failed
            failed 1 -> nothing
            busy 1 -> nothing
            shown 1 -> nothing
            click 1 -> open 1
            failed 1 -> note notDelivered 1, show 1 failed
            clear 1 -> hide 1
            """
        )
    }

    @Test func `link that another process is opening: shown as busy, and can be clicked again`() throws {
        try run(
            """
            bring 1
            click 1 -> open 1
            busy 1 -> show 1 busy
            opened 1 -> nothing
            click 1 -> open 1
            busy 1
            clear 1 -> hide 1
            """
        )
    }

    @Test(arguments: ["opened", "failed", "busy"])
    func `link cleared while it is opened: not shown or stored again`(end: String) throws {
        try run(
            """
            bring 1
            click 1 -> open 1
            clear 1 -> hide 1
            \(end) 1 -> nothing
            shown 1 -> nothing
            saved 1 -> nothing
            kept -> nothing
            """
        )
    }

    @Test func `link that another app opens by now: the first click shows the new app, the next click opens the link`()
        throws
    {
        try run(
            """
            bring 1
            router Fox -> nothing
            click 1 -> show 1 in Fox
            click 1 -> browse 1
            failed 1 -> note notDelivered 1, show 1 failed
            router app
            click 1 -> open 1
            """
        )
    }

    @Test func `link that nothing opens any more: stays in the inbox`() throws {
        try run(
            """
            bring 1@reader:x
            router app
            click 1 -> note nothingToOpen 1
            click 1 -> note nothingToOpen 1
            lock
            click 1 -> wanted 1, ask
            unlock -> unmark 1, note nothingToOpen 1
            lock
            unlock -> nothing
            kept -> 1
            clear 1 -> hide 1
            """,
            custom: true
        )
    }

    // MARK: The disk

    @Test func `full disk: the link is shown, and stored when the disk takes it again`() throws {
        try run(
            """
            read 1
            unsaved 1 -> note notKept 1, show 1
            kept -> 1
            stored -> nothing
            left 1 -> memoryOnly
            shown 1
            again -> store 1 again
            unsaved 1 -> nothing
            click 1 -> open 1
            again -> nothing
            failed 1 -> note notDelivered 1, store 1 again, show 1 failed
            saved 1 -> note kept 1
            saved 1 -> nothing
            stored -> 1
            left 1 -> inbox
            again -> nothing
            click 1 -> open 1
            failed 1 -> note notDelivered 1, show 1 failed
            """
        )
    }

    @Test func `lost inbox: stored links are written again, except those that are being saved or opened`() throws {
        try run(
            """
            bring 1-2
            read 3
            lost -> nothing
            stored -> nothing
            kept -> 1 2
            click 1
            again -> store 2 again
            saved 2-3 -> note kept 2, show 3
            failed 1 -> note notDelivered 1, store 1 again, show 1 failed
            saved 1 -> note kept 1
            stored -> 1 2 3
            """
        )
    }

    @Test func `notification that can't be shown: whether its link is still in the inbox, only in memory, or nowhere`()
        throws
    {
        try run(
            """
            arrive 1
            left 1 -> inbox
            read 2
            left 2 -> nothing
            unsaved 2
            left 2 -> memoryOnly
            read 3@tel: -> note unusableLink, show 3 unusable
            left 3 -> nothing
            left sum -> nothing
            """
        )
    }

    // MARK: Messages and conditions

    @Test func `messages without a usable link: noted with the reason; only an unusable URI is shown`() throws {
        let rows: [([UInt8]?, [BackgroundReader.Action])] = [
            (nil, [.note(.noMessage)]), ([0xFF], [.note(.badMessage)]),
            (Array(repeating: 0, count: 70_000), [.note(.badMessage)]),
            (try NDEFMessage([NDEFRecord.text("x", language: "en")]).encoded(), [.note(.noLink)]),
            (try Fixture.message("reader:x"), [.note(.refused(.customScheme))]),
            (try Fixture.message("file:///x"), [.note(.refused(.customScheme))]),
            (
                try NDEFMessage([NDEFRecord.known("U", payload: [])]).encoded(),
                [.note(.unusableLink), .announce(Bench.id(1), .unusable)]
            ),
        ]
        var bench = try Bench()
        for (number, (message, actions)) in rows.enumerated() {
            #expect(bench.read(message: message, tag: [UInt8(number)]) == actions, "\(number)")
        }
        let largest = try Fixture.message(Fixture.link, count: BackgroundReader.maximumMessageSize)
        #expect(Bench.text(bench.read(message: largest, tag: [20])) == "store 2")
        let larger = try Fixture.message(Fixture.link, count: BackgroundReader.maximumMessageSize + 1)
        #expect(bench.read(message: larger, tag: [21]) == [.note(.badMessage)])
        var lenient = try Bench(custom: true)
        #expect(lenient.read(message: try Fixture.message("file:///x"), tag: [22]) == [.note(.refused(.noApp))])
    }

    @Test(arguments: [
        ReadingConditions(obstacles: [.neverUnlocked]), ReadingConditions(obstacles: [.displayOff]),
        ReadingConditions(obstacles: [.readerSession]), ReadingConditions(obstacles: [.wallet]),
        ReadingConditions(obstacles: [.camera]), ReadingConditions(obstacles: [.airplaneMode]),
    ])
    func `obstacle: no tag is read, and a refused tag arrives afterwards`(_ conditions: ReadingConditions) throws {
        var bench = try Bench()
        #expect(bench.handle(.conditions(conditions)) == [.stopLooking])
        let message = try Fixture.message(Fixture.link)
        #expect(bench.read(message: message, tag: [1]) == [.note(.notEligible(conditions.obstacles))])
        #expect(bench.handle(.conditions(conditions)) == [])
        #expect(bench.handle(.conditions(ReadingConditions())) == [.startLooking])
        #expect(Bench.text(bench.read(message: message, tag: [1])) == "store 1")
    }

    @Test func `unplugged reader: looked for, and a tag that stayed on the reader is not new afterwards`() throws {
        var bench = try Bench()
        bench.reader = BackgroundReader(router: try Fixture.router())
        #expect(!bench.reader.isLooking)
        #expect(bench.handle(.conditions(ReadingConditions(obstacles: [.unsupported]))) == [.startLooking])
        #expect(bench.reader.isLooking && !bench.reader.conditions.allowReading)
        let message = try Fixture.message("https://example.org/buy/1")
        #expect(bench.read(message: message, tag: [1]) == [.note(.notEligible([.unsupported]))])
        #expect(bench.handle(.conditions(ReadingConditions())) == [])
        try bench.run("read 1 -> store 1")
        #expect(bench.handle(.conditions(ReadingConditions(obstacles: [.unsupported]))) == [])
        try bench.run("wait 90000\non -> nothing\nnear 1\nread 1 -> nothing")
        #expect(bench.handle(.conditions(ReadingConditions(obstacles: [.unsupported, .displayOff]))) == [.stopLooking])
    }

    // MARK: Too many

    @Test func `full inbox: the oldest entry is removed, also after the clock was set back`() throws {
        try run(
            """
            restore 1-100 counted 1-100
            counted 1-100 -> nothing
            on
            read 101 -> store 101, remove 1, sum 2-100, note forgotten 1
            click 1 -> nothing
            shown 1 -> nothing
            saved 101 -> show 101
            """
            .replacing("2-100,", with: (2...100).map { "\($0)" }.joined(separator: " ") + ",")
        )
        let message = try Fixture.message("https://b.example/")
        let early = (1...BackgroundReader.maximumEntries).map { number in
            InboxEntry(id: InboxEntry.ID(received: 1000, number: UInt32(number)), message: message, isAnnounced: true)
        }
        var bench = try Bench()
        _ = bench.handle(.restored(PreviousRun(entries: early)))
        let actions = bench.read(message: try Fixture.message(Fixture.link), tag: [1])
        guard case .store(let entry)? = actions.first else {
            Issue.record("not stored")
            return
        }
        #expect(entry.id > early[early.count - 1].id && actions.contains(.remove(early[0].id)))
    }

    @Test func `full inbox: of too many entries of an earlier run the oldest are removed`() throws {
        try run("restore 1-101 dismissed 1-101 -> remove 1, note forgotten 1")
    }

    @Test func `10,000 tags in a minute: 66 are stored, and at most 132 notes are made`() throws {
        var bench = try Bench()
        var (stored, notes) = (0, 0)
        for number in 0..<10_000 {
            bench.now += .milliseconds(6)
            let message = try Fixture.message("https://example.org/buy/\(number)")
            for action in bench.read(message: message, tag: [1, UInt8(number >> 8), UInt8(number & 255)]) {
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
        try bench.run("wait 60000")
        #expect(Bench.text(bench.read(message: try Fixture.message(Fixture.link), tag: [2])).contains("store"))
    }

    @Test func `too many tags: the first refused tag is noted, and their number with the next accepted tag`() throws {
        try run(
            """
            arrive 1-32
            arrive 33 -> note tooManyArrivals
            arrive 34 -> nothing
            wait 2000
            read 35 -> note turnedAway(2), store 33
            wait 2000
            read 36 -> store 34
            read 37 -> note tooManyArrivals
            read 38 -> nothing
            """
        )
    }

    @Test func `too many tags without a usable link: they use up no notification of the tags with links`() throws {
        var bench = try Bench()
        let refusal = "\(BackgroundReader.Note.refused(.customScheme))"
        for number in 1...40 { try bench.run("read \(100 + number)@reader:x -> note \(refusal)") }
        try bench.run("arrive 1-7\narrive 8 -> show 8")
        let damaged: [UInt8] = [0xD1, 0x01, 0x00, 0x55]
        for number: UInt8 in 1...40 {
            let actions = bench.read(message: damaged, tag: [number, 1])
            #expect(actions == (number == 1 ? [.note(.tooManyArrivals)] : []))
        }
        try bench.run("read 9 -> note turnedAway(40), store 9\nsaved 9 -> sum 9")
    }

    @Test func `notifications: eight at once, and then one every two seconds`() throws {
        var bench = try Bench()
        try bench.run("arrive 1-7\narrive 8 -> show 8")
        // None at 1.9 seconds, the first at 3, the second at 4: the remainder of the third second counts.
        let times = [(1900, false), (3000, true), (3900, false), (4000, true), (5999, false), (6000, true)]
        for (index, (milliseconds, isShown)) in times.enumerated() {
            bench.now = .milliseconds(milliseconds)
            let message = try Fixture.message("https://example.org/buy/\(milliseconds)")
            _ = bench.read(message: message, tag: [99, UInt8(index)])
            let actions = bench.handle(.stored(bench.lastID, isKept: true))
            #expect(actions.announced.isEmpty != isShown, "\(milliseconds)")
        }
        // After a rest of 16 seconds all eight are there again, and not one more.
        bench.now = .seconds(22)
        for tag in 21...28 { try bench.run("arrive \(tag) -> show \(tag - 6)") }
        let message = try Fixture.message(Fixture.link)
        _ = bench.read(message: message, tag: [98])
        #expect(bench.handle(.stored(bench.lastID, isKept: true)).announced.isEmpty)
    }

    // MARK: Retries

    @Test func `refused notifications: tried again after 1, 2, 4 to 60 seconds, eight times`() {
        var retries = NotificationRetryPolicy()
        var delays: [Duration] = []
        while delays.count < 100, let delay = retries.failed() {
            // Notifications that fail in the meantime are tried at the same time.
            #expect(retries.failed() == nil)
            delays.append(delay)
            retries.began()
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        retries.succeeded()
        #expect(retries.failed() == .seconds(1))
        // What is shown while a try is planned plans no second one beside it.
        retries.succeeded()
        #expect(retries.failed() == nil)
        retries.began()
        #expect(retries.failed() == .seconds(1))
    }
}
