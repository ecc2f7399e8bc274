// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// Which tags have arrived, and which were there before. See ``Bench`` for the scripts.
struct PresenceTests {
    private func run(_ script: String, at place: SourceLocation = #_sourceLocation) throws {
        var bench = try Bench()
        try bench.run(script, at: place)
    }

    @Test(
        arguments: [
            ([], true), ([8, 1, 2, 3], true), ([4, 1, 2, 3], false), ([8, 1, 2], false), ([0x88, 1, 2, 3], false),
            ([8, 1, 2, 3, 4, 5, 6], false),
        ] as [([UInt8], Bool)]
    )
    func `identifiers: four bytes that begin with 08 are random (ISO/IEC 14443-3, 6.4.4)`(
        identifier: [UInt8],
        isUnstable: Bool
    ) {
        #expect(TagReading(identifier: identifier, message: nil).hasStableIdentifier == !isUnstable)
    }

    @Test func `tag that stays: arrives once, however often reading pauses and its message changes`() throws {
        var bench = try Bench()
        try bench.run("read 1 -> store 1")
        for wait in [1, 200, 900, 5000, 60_000] {
            try bench.run(
                """
                wait 30000
                read 1 -> nothing
                off
                wait 600000
                on
                wait \(wait)
                near 9 1
                wait \(wait)
                read 1@2 -> nothing
                """
            )
        }
    }

    @Test func `tag read again: ignored until it has been absent for 500 ms, counted from the first look without it`()
        throws
    {
        for (wait, actions) in [(499, "nothing"), (500, "store 2")] {
            try run(
                """
                read 1
                wait 100
                near 1
                wait 100
                near 9
                wait 400
                near
                wait \(wait - 400)
                read 1 -> \(actions)
                wait 10000
                read 1 -> nothing
                """
            )
        }
    }

    @Test func `tag that is tapped again: a second notification beside the first`() throws {
        try run("bring 1\nnear\nwait 400\narrive 1 -> nothing\nnear\nwait 600\narrive 1 -> show 2\nkept -> 1 2")
    }

    @Test func `tag that left before or during a pause of reading: arrives at once when it is read after the pause`()
        throws
    {
        try run("read 1\nwait 1000\nnear\nwait 60000\noff\nwait 5000\non\nwait 100\nnear 1\nread 1 -> store 2")
        try run("read 1\nnear\noff\nwait 5000\non\nread 1 -> store 2\nread 1 -> nothing")
        try run("read 1\noff\nwait 60000\non\nnear\nwait 200\nread 1 -> store 2")
    }

    @Test func `random identifier: within a second after a pause, a tag with the same link counts as the same tag`()
        throws
    {
        for (wait, actions) in [(1000, "nothing"), (1001, "store 2")] {
            try run("read r1\noff\nwait 60000\non\nwait \(wait)\nread r2 -> \(actions)")
        }
        try run("read r1\noff\nwait 60000\non\nnear r7\nread r7 -> nothing")
        // Nothing with such an identifier is there: it has left.
        try run("read r1\noff\nwait 60000\non\nnear 9\nread r4 -> store 2")
        // The second begins with the last time that reading began again, and not with a repeated report.
        try run("read r1\noff\nwait 60000\non\nwait 900\non -> nothing\nwait 600\nread r4 -> store 2")
        // One that was seen in that second is near.
        try run("read r1\noff\nwait 60000\non\nwait 500\nread r2 -> nothing\nwait 10000\nread r3 -> nothing")
    }

    @Test func `33rd tag: the one that was known the longest is forgotten`() throws {
        var bench = try Bench()
        func isArrival(_ number: UInt8) -> Bool { !bench.read(message: nil, tag: [4, number]).isEmpty }
        for number: UInt8 in 0..<32 { #expect(isArrival(number)) }
        for number: UInt8 in 0..<32 { #expect(!isArrival(number)) }
        #expect(isArrival(32))
        #expect(!isArrival(1) && !isArrival(32) && isArrival(0))
    }

    // MARK: Apps

    private let session = BackgroundReader.Input.conditions(ReadingConditions(obstacles: [.readerSession]))

    @Test func `tag that an app has read: does not arrive until it left and came again`() throws {
        var bench = try Bench()
        _ = bench.handle(session)
        try bench.run(
            """
            app 1
            wait 10000
            on
            wait 2000
            near 1 9
            read 1 -> nothing
            read 9 -> store 1
            near 9
            wait 500
            read 1 -> store 2
            """
        )
    }

    @Test func `tag that an app has read, and that is gone when reading resumes: arrives when it is read next`() throws
    {
        var bench = try Bench()
        try bench.run("read 1\nnear\nwait 5000")
        _ = bench.handle(session)
        try bench.run("app 1\non\nnear\nwait 50\nread 1 -> store 2")
    }

    @Test(arguments: [false, true])
    func `tag that left and came back in an app's session: arrives only after it was absent for 500 ms`(isPaused: Bool)
        throws
    {
        var bench = try Bench()
        try bench.run("read 1\n\(isPaused ? "off\nwait 1000\non\n" : "")near 1\nnear\nwait 100")
        _ = bench.handle(session)
        try bench.run(
            """
            app 1
            wait 10000
            on
            wait 100
            near 1
            read 1 -> nothing
            near
            wait 499
            read 1 -> nothing
            near
            wait 500
            read 1 -> store 2
            """
        )
    }

    @Test
    func `random identifier read by an app: the next random identifier does not arrive, one with another link does`()
        throws
    {
        var bench = try Bench()
        _ = bench.handle(session)
        try bench.run(
            """
            app r1
            on
            near r2 r3
            read r2@1 -> nothing
            read r3@2 -> store 1
            read r4@1 -> nothing
            """
        )
    }

    // MARK: A new run of the service

    @Test func `restarted service: a tag read within 5 s with a shown entry's message is not new`() throws {
        let start = "restore 1 shown 1 -> nothing\non -> start\n"
        for (wait, actions) in [(4999, "nothing"), (5000, "nothing"), (5001, "store 2")] {
            try run(start + "wait \(wait)\nread 1 -> \(actions)")
        }
        // A second tag with the message, the same one that comes again, and one whose entry was cleared, arrive.
        try run(start + "read 1 -> nothing\nread 2@1 -> store 2\nnear\nwait 1000\nread 1 -> store 3")
        try run(start + "wait 60000\noff\non\nwait 2000\nread 1 -> store 2")
        try run(start + "clear 1 -> hide 1\nwait 1000\nread 1 -> store 2")
    }
}
