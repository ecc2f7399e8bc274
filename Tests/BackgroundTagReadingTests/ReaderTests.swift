// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import Testing

@Suite struct `Reading in the background` {
    private typealias Action = BackgroundReader.Action

    /// A machine with a clock and names of its own.
    private struct Bench {
        var reader: BackgroundReader
        var now = Duration.zero
        var count: UInt32 = 0

        init(custom: Bool = false) throws {
            reader = BackgroundReader(router: try Fixture.router(allowsCustomSchemes: custom))
            _ = reader.handle(.conditions(ReadingConditions()), now: now)
        }

        mutating func handle(_ input: BackgroundReader.Input) -> [BackgroundReader.Action] {
            reader.handle(input, now: now)
        }

        mutating func read(_ uri: String, tag: [UInt8] = [1, 2, 3, 4, 5, 6, 7]) throws -> [BackgroundReader.Action] {
            try read(message: Fixture.message(uri), tag: tag)
        }

        mutating func read(message: [UInt8]?, tag: [UInt8] = [1, 2, 3, 4, 5, 6, 7]) -> [BackgroundReader.Action] {
            count += 1
            let id = InboxEntry.ID(received: 1, number: count)
            return handle(.read(TagReading(identifier: tag, message: message), id))
        }

        var lastID: InboxEntry.ID { InboxEntry.ID(received: 1, number: count) }
    }

    @Test func `A tag that lay there when the service was started anew is not announced twice`() throws {
        var bench = try Bench()
        bench.reader = BackgroundReader(router: try Fixture.router())
        let entry = InboxEntry(
            id: InboxEntry.ID(received: 1, number: 99),
            message: try Fixture.message(Fixture.link),
            isAnnounced: true
        )
        #expect(bench.handle(.restored([entry])) == [])
        #expect(bench.handle(.conditions(ReadingConditions())) == [.startReading])
        #expect(try bench.read(Fixture.link) == [])
        // Another tag, and the same one when it comes again, are arrivals.
        #expect(try bench.read("https://example.org/buy/43", tag: [9, 9, 9, 9]).count == 1)
        #expect(bench.handle(.nothingNear) == [])
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
        #expect(bench.handle(.delivered(id)) == [.remove(id), .withdraw(id)])
        #expect(bench.handle(.activated(id)) == [])
    }

    @Test func `Conditions start and stop reading, and a reading that comes too late has no effect`() throws {
        var bench = try Bench()
        #expect(bench.handle(.conditions(ReadingConditions(isCameraActive: true))) == [.stopReading([.camera])])
        #expect(bench.handle(.conditions(ReadingConditions(isDisplayOn: false, isCameraActive: true))) == [])
        #expect(try bench.read(Fixture.link) == [.note(.notEligible([.displayOff, .camera]))])
        #expect(bench.handle(.conditions(ReadingConditions())) == [.startReading])
    }

    @Test func `Locked, the notification shows, and the unlock is waited for`() throws {
        var bench = try Bench()
        #expect(bench.handle(.lock(isLocked: true)) == [])
        _ = try bench.read(Fixture.link)
        let id = bench.lastID
        guard case .announce? = bench.handle(.stored(id, isKept: true)).first else {
            Issue.record("not announced")
            return
        }
        #expect(bench.handle(.activated(id)) == [.requestUnlock])
        #expect(bench.handle(.activated(id)) == [])
        #expect(bench.handle(.lock(isLocked: true)) == [])
        guard case .deliver(id, .app)? = bench.handle(.lock(isLocked: false)).first else {
            Issue.record("not delivered")
            return
        }
        #expect(bench.handle(.lock(isLocked: false)) == [])
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
        let tag: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
        _ = try bench.read(Fixture.link)
        _ = bench.handle(.left(identifier: tag))
        bench.now += .milliseconds(499)
        #expect(try bench.read(Fixture.link) == [])
        _ = bench.handle(.left(identifier: tag))
        bench.now += .milliseconds(500)
        #expect(try bench.read(Fixture.link).count == 1)
        _ = bench.handle(.nothingNear)
        bench.now += .seconds(1)
        #expect(try bench.read(Fixture.link).count == 1)
    }

    @Test func `Taken away while nothing was read, a tag that comes back later is announced`() throws {
        var bench = try Bench()
        _ = try bench.read(Fixture.link)
        _ = bench.handle(.conditions(ReadingConditions(isReaderSessionActive: true)))
        bench.now += .seconds(5)
        _ = bench.handle(.conditions(ReadingConditions()))
        _ = bench.handle(.nothingNear)
        bench.now += .milliseconds(100)
        #expect(try bench.read(Fixture.link).count == 1)
        _ = bench.handle(.conditions(ReadingConditions(isReaderSessionActive: true)))
        _ = bench.handle(.conditions(ReadingConditions()))
        bench.now += .milliseconds(1001)
        #expect(try bench.read(Fixture.link).count == 1)
    }

    @Test func `A tag with an identifier of chance is known by its link`() throws {
        var bench = try Bench()
        #expect(try bench.read("https://example.org/buy/1?c=1", tag: [8, 1, 2, 3]).count == 1)
        #expect(try bench.read("https://example.org/buy/1?c=2", tag: [8, 4, 5, 6]) == [])
        #expect(try bench.read("https://example.org/buy/2?c=2", tag: [8, 4, 5, 6]).count == 1)
        #expect(try bench.read("https://example.org/buy/1", tag: [4, 4, 5, 6]).count == 1)
    }

    @Test func `What can't be used is told, and what has no link is not`() throws {
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
        #expect(stored == 37)
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
                .withdraw(first), .remove(first), .note(.forgotten(first)),
            ]
        )
    }

    @Test func `What an earlier run left is taken up, and announced unless it was`() throws {
        let message = try Fixture.message(Fixture.link)
        let old = InboxEntry(id: InboxEntry.ID(received: 1, number: 1), message: message, isAnnounced: true)
        let new = InboxEntry(id: InboxEntry.ID(received: 2, number: 1), message: message)
        let odd = InboxEntry(id: InboxEntry.ID(received: 3, number: 1), message: [1, 2, 3])
        var reader = BackgroundReader(router: try Fixture.router())
        let actions = reader.handle(.restored([odd, new, old]), now: .zero)
        #expect(actions.count == 2)
        guard case .announce(new.id, _) = actions[0] else {
            Issue.record("\(actions)")
            return
        }
        #expect(actions[1] == .note(.nothingToOpen(odd.id)))
        guard case .deliver(old.id, .app)? = reader.handle(.activated(old.id), now: .zero).first else {
            Issue.record("not delivered")
            return
        }
        #expect(reader.handle(.deliveryFailed(old.id), now: .zero) == [.note(.notDelivered(old.id))])
        #expect(reader.handle(.cleared(old.id), now: .zero) == [.withdraw(old.id)])
        #expect(reader.handle(.restored([new]), now: .zero) == [])
    }
}
