// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

@Suite struct `Tags that come and go while nobody looks` {
    private static let other: [UInt8] = [9, 9, 9, 9]

    private func pause(_ bench: inout Bench, for time: Duration) {
        _ = bench.handle(.conditions(ReadingConditions(isDisplayOn: false)))
        bench.now += time
        _ = bench.handle(.conditions(ReadingConditions()))
    }

    @Test func `One that was seen to leave before the display went off is announced when it comes back at once`() throws
    {
        var bench = try Bench()
        #expect(try bench.read(Fixture.link).count == 1)
        bench.now += .seconds(1)
        _ = bench.handle(.near([]))
        bench.now += .seconds(60)
        pause(&bench, for: .seconds(5))
        // The person wakes the screen with the tag in hand: the first look finds it.
        bench.now += .milliseconds(100)
        _ = bench.handle(.near([Bench.tag]))
        #expect(try bench.read(Fixture.link).count == 1)
        #expect(try bench.read(Fixture.link) == [])
    }

    @Test func `One that was taken away while the display was off is announced when it comes back within a second`()
        throws
    {
        var bench = try Bench()
        _ = try bench.read(Fixture.link)
        pause(&bench, for: .seconds(60))
        // The first look finds nothing; the tag comes right after.
        _ = bench.handle(.near([]))
        bench.now += .milliseconds(200)
        #expect(try bench.read(Fixture.link).count == 1)
    }

    @Test func `One that stays is not announced, however long the reader takes for its first look`() throws {
        var bench = try Bench()
        _ = try bench.read(Fixture.link)
        for wait in [1, 900, 5000, 60_000] {
            pause(&bench, for: .seconds(600))
            bench.now += .milliseconds(wait)
            _ = bench.handle(.near([Self.other, Bench.tag]))
            bench.now += .milliseconds(wait)
            #expect(try bench.read(Fixture.link) == [])
        }
    }

    @Test func `One that makes up its identifiers is known by its link, also after nobody looked`() throws {
        var bench = try Bench()
        #expect(try bench.read("https://example.org/buy/1?c=1", tag: [8, 1, 2, 3]).count == 1)
        pause(&bench, for: .seconds(60))
        _ = bench.handle(.near([[8, 7, 7, 7]]))
        #expect(try bench.read("https://example.org/buy/1?c=2", tag: [8, 7, 7, 7]) == [])
        // Nothing with such an identifier is there: it has left.
        pause(&bench, for: .seconds(60))
        _ = bench.handle(.near([Self.other]))
        #expect(try bench.read("https://example.org/buy/1?c=3", tag: [8, 4, 5, 6]).count == 1)
        pause(&bench, for: .seconds(60))
        _ = bench.handle(.near([[8, 3, 3, 3]]))
        bench.now += .milliseconds(1001)
        #expect(try bench.read("https://example.org/buy/1?c=4", tag: [8, 3, 3, 3]).count == 1)
    }

    @Test func `One that an app has read, and that still lies there, is not announced until it comes again`() throws {
        var bench = try Bench()
        _ = bench.handle(.conditions(ReadingConditions(isReaderSessionActive: true)))
        _ = bench.handle(.readByApp([Bench.tag]))
        bench.now += .seconds(10)
        _ = bench.handle(.conditions(ReadingConditions()))
        bench.now += .seconds(2)
        _ = bench.handle(.near([Bench.tag, Self.other]))
        #expect(try bench.read(Fixture.link) == [])
        // The app has not read the other one.
        #expect(try bench.read("https://example.org/buy/7", tag: Self.other).count == 1)
        _ = bench.handle(.near([Self.other]))
        bench.now += .milliseconds(500)
        #expect(try bench.read(Fixture.link).count == 1)
    }

    @Test func `One that an app has read and that was taken away meanwhile is announced when it comes`() throws {
        var bench = try Bench()
        // It was near before, too, and left.
        _ = try bench.read(Fixture.link)
        _ = bench.handle(.near([]))
        bench.now += .seconds(5)
        _ = bench.handle(.conditions(ReadingConditions(isReaderSessionActive: true)))
        _ = bench.handle(.readByApp([Bench.tag]))
        _ = bench.handle(.conditions(ReadingConditions()))
        _ = bench.handle(.near([]))
        bench.now += .milliseconds(50)
        #expect(try bench.read(Fixture.link).count == 1)
    }

    @Test func `One that left, and that an app has read when it came back, is not announced while it lies there`()
        throws
    {
        for wasUncertain in [false, true] {
            var bench = try Bench()
            _ = try bench.read(Fixture.link)
            if wasUncertain { pause(&bench, for: .seconds(1)) }
            _ = bench.handle(.near([Bench.tag]))
            _ = bench.handle(.near([]))
            bench.now += .milliseconds(100)
            _ = bench.handle(.conditions(ReadingConditions(isReaderSessionActive: true)))
            _ = bench.handle(.readByApp([Bench.tag]))
            bench.now += .seconds(10)
            _ = bench.handle(.conditions(ReadingConditions()))
            bench.now += .milliseconds(100)
            _ = bench.handle(.near([Bench.tag]))
            #expect(try bench.read(Fixture.link) == [])
            // From now on it leaves and comes as any other.
            _ = bench.handle(.near([]))
            bench.now += .milliseconds(499)
            #expect(try bench.read(Fixture.link) == [])
            _ = bench.handle(.near([]))
            bench.now += .milliseconds(500)
            #expect(try bench.read(Fixture.link).count == 1)
        }
    }

    @Test func `How long one was away counts from the first look that missed it`() throws {
        var bench = try Bench()
        _ = try bench.read(Fixture.link)
        for _ in 0..<5 {
            _ = bench.handle(.near([Self.other]))
            bench.now += .milliseconds(100)
        }
        #expect(try bench.read(Fixture.link).count == 1)
    }

    @Test func `One with identifiers of chance that an app has read is not announced, once`() throws {
        var bench = try Bench()
        _ = bench.handle(.conditions(ReadingConditions(isReaderSessionActive: true)))
        _ = bench.handle(.readByApp([[8, 1, 1, 1]]))
        _ = bench.handle(.conditions(ReadingConditions()))
        _ = bench.handle(.near([[8, 2, 2, 2], [8, 3, 3, 3]]))
        #expect(try bench.read("https://example.org/buy/1", tag: [8, 2, 2, 2]) == [])
        #expect(try bench.read("https://example.org/buy/2", tag: [8, 3, 3, 3]).count == 1)
        #expect(try bench.read("https://example.org/buy/1", tag: [8, 4, 4, 4]) == [])
    }
}
