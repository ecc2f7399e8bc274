// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// The summary at the moments at which only a part of its entries is meant.
@Suite struct `The summary of what waits` {
    /// A bench on which eight links have notifications of their own.
    private func full() throws -> Bench {
        var bench = try Bench()
        for number: UInt8 in 1...8 { _ = try bench.arrive(number) }
        return bench
    }

    @Test func `Counts no entry that is not saved yet, and later counts it too`() throws {
        var bench = try full()
        let (first, second) = (try bench.readUnsaved(9), try bench.readUnsaved(10))
        #expect(bench.handle(.stored(second, isKept: true)).summary?.ids == [second])
        #expect(bench.handle(.stored(first, isKept: true)).summary?.ids == [first, second])
    }

    @Test func `Takes no entry with it that comes when it is dismissed`() throws {
        var bench = try full()
        let (first, second) = (try bench.readUnsaved(9), try bench.readUnsaved(10))
        _ = bench.handle(.stored(second, isKept: true))
        #expect(bench.handle(.closed(.summary, isDismissed: true)) == [.mark(second, .dismissed)])
        #expect(bench.handle(.stored(first, isKept: true)).summary?.ids == [first])
    }

    @Test func `Is of entries in memory alone when one of them could not be saved`() throws {
        var bench = try full()
        let (first, second) = (try bench.readUnsaved(9), try bench.readUnsaved(10))
        _ = bench.handle(.stored(first, isKept: true))
        #expect(bench.reader.remainder(of: .summary) == .inbox)
        _ = bench.handle(.stored(second, isKept: false))
        #expect(bench.reader.remainder(of: .summary) == .memory)
        _ = bench.handle(.stored(second, isKept: true))
        #expect(bench.reader.remainder(of: .summary) == .inbox)
    }

    @Test func `Offers no entry that is being opened`() throws {
        var bench = try full()
        let (first, second) = (try bench.arrive(9).id, try bench.arrive(10).id)
        guard case .deliver(first, _)? = bench.handle(.activated(first)).first else {
            Issue.record("not opened")
            return
        }
        let shown = bench.handle(.summaryActivated)
        #expect(shown.announced == [second])
        #expect(bench.handle(.delivered(first)) == [.remove(first), .withdraw(.summary)])
    }

    @Test func `Is gone with its desktop: one entry that is left then has its own notification`() throws {
        var bench = try full()
        let (first, second) = (try bench.arrive(9).id, try bench.arrive(10).id)
        for number: UInt32 in 1...8 { _ = bench.handle(.cleared(InboxEntry.ID(received: 1, number: number))) }
        #expect(bench.handle(.cleared(first)).summary?.ids == [second])
        #expect(bench.handle(.desktopGone) == [])
        let actions = bench.handle(.desktopReady)
        #expect(actions.announced == [second] && actions.count == 1)
    }

    /// Where one entry alone is due, it is shown in its own notification, unless a summary is there that counts it too.
    private func expectAlone(_ bench: inout Bench, _ id: InboxEntry.ID, _ location: SourceLocation = #_sourceLocation) {
        let actions = bench.handle(.desktopReady)
        #expect(actions.announced == [id] && actions.count == 1, sourceLocation: location)
    }

    @Test func `Is not there when it could not be shown: one entry that is left then has its own notification`()
        throws
    {
        var bench = try full()
        let id = try bench.arrive(9).id
        #expect(bench.handle(.notShown(.summary)) == [])
        expectAlone(&bench, id)
    }

    @Test(arguments: [true, false])
    func `Is not there when it was closed: what is due alone then has its own notification`(isDismissed: Bool) throws {
        var bench = try full()
        _ = try bench.arrive(9)
        _ = bench.handle(.closed(.summary, isDismissed: isDismissed))
        let first = InboxEntry.ID(received: 1, number: 1)
        #expect(bench.handle(.notShown(.entry(first))) == [])
        expectAlone(&bench, first)
    }

    @Test func `Is not there when it went with its last entry, and does not go twice`() throws {
        let first = InboxEntry.ID(received: 1, number: 1)
        for isOpened in [true, false] {
            var bench = try full()
            let id = try bench.arrive(9).id
            let actions = bench.handle(isOpened ? .summaryActivated : .cleared(id))
            #expect(actions.announced == (isOpened ? [id] : []))
            #expect(actions.last == .withdraw(.summary))
            #expect(bench.handle(.summaryActivated) == [])
            #expect(bench.handle(.notShown(.entry(first))) == [])
            expectAlone(&bench, first)
        }
    }

    @Test func `Does not count one that has its own notification, because it was not opened`() throws {
        for isElsewhere in [true, false] {
            var bench = try full()
            let (first, second) = (try bench.arrive(9).id, try bench.arrive(10).id)
            _ = bench.handle(.activated(first))
            let actions = bench.handle(isElsewhere ? .beingOpened(first) : .deliveryFailed(first, reason: "x"))
            #expect(actions.announced == [first] && actions.summary?.ids == [second])
            // From now on it is shown alone, before its desktop has said so too.
            #expect(bench.handle(.closed(.summary, isDismissed: true)) == [.mark(second, .dismissed)])
            #expect(bench.handle(.cleared(first)) == [.withdraw(.entry(first))])
        }
    }

    @Test func `Is not shown again when an entry goes that it does not count yet`() throws {
        var bench = try full()
        let (first, second) = (try bench.readUnsaved(9), try bench.arrive(10).id)
        #expect(bench.handle(.cleared(first)) == [])
        #expect(bench.handle(.stored(first, isKept: true)) == [])
        #expect(bench.handle(.cleared(second)) == [.withdraw(.summary)])
    }

    @Test func `Names a long host by its end, which says whose it is`() throws {
        var bench = try full()
        let host = "www.bank.example.\(String(repeating: "a", count: 50)).evil.example"
        #expect(try bench.arrive(9, at: host).actions.summary?.body == "“…\(host.suffix(39))”")
    }
}
