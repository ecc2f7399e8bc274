// SPDX-License-Identifier: Apache-2.0
import BackgroundStorage
import BackgroundTagReading
import PrivateStorage
import Testing

@Suite struct `The inbox` {
    private func entry(_ number: Int, count: Int = 40) -> InboxEntry {
        let id = InboxEntry.ID(received: UInt64(number), number: UInt32(number))
        return InboxEntry(id: id, message: [UInt8](repeating: UInt8(number & 255), count: count))
    }

    /// What was promised when a row of steps ended.
    private struct Promise {
        var kept: [InboxEntry.ID: InboxEntry] = [:]
        /// What was begun and not finished: it may be there or not.
        var open: Set<InboxEntry.ID> = []
    }

    /// Adds, marks and removes, until the disk fails.
    private func work(_ inbox: Inbox<SimulatedDisk>, _ promise: inout Promise) throws(StorageError) {
        try inbox.recover()
        for number in 1...6 {
            let new = entry(number)
            promise.open.insert(new.id)
            try inbox.add(new)
            promise.open.remove(new.id)
            promise.kept[new.id] = new
            try inbox.markAnnounced(new.id)
            guard number.isMultiple(of: 2) else { continue }
            promise.open.insert(new.id)
            try inbox.remove(new.id)
            promise.open.remove(new.id)
            promise.kept[new.id] = nil
        }
    }

    @Test func `The power may fail at any step, and no entry is lost or doubled`() throws {
        let whole = SimulatedDisk()
        var promise = Promise()
        try work(Inbox(whole), &promise)
        #expect(whole.steps > 40)
        for last in 1...whole.steps {
            for loss in SimulatedDisk.Loss.allCases {
                let disk = SimulatedDisk(failsAt: last)
                var promise = Promise()
                #expect(throws: StorageError.self) { try work(Inbox(disk), &promise) }
                let left = SimulatedDisk(disk.afterPowerLoss(loss))
                let inbox = Inbox(left)
                try inbox.recover()
                let content = try inbox.content()
                #expect(content.damaged == [], "step \(last), \(loss)")
                #expect(Set(content.entries.map(\.id)).count == content.entries.count)
                for entry in content.entries {
                    #expect(promise.kept[entry.id] != nil || promise.open.contains(entry.id), "step \(last), \(loss)")
                    #expect(entry.message == self.entry(Int(entry.id.number)).message)
                }
                for id in promise.kept.keys where !promise.open.contains(id) {
                    #expect(content.entries.contains { $0.id == id }, "step \(last), \(loss): \(id) is lost")
                }
                #expect(try left.names().count == content.entries.count)
            }
        }
    }

    @Test func `Entries come back in order, with what was announced`() throws {
        let inbox = Inbox(SimulatedDisk())
        for number in [3, 1, 2] { try inbox.add(entry(number)) }
        try inbox.markAnnounced(entry(2).id)
        try inbox.markAnnounced(entry(9).id)
        let entries = try inbox.content().entries
        #expect(entries.map(\.id.number) == [1, 2, 3])
        #expect(entries.map(\.isAnnounced) == [false, true, false])
        try inbox.add(entry(1))
        #expect(try inbox.content().entries.count == 3)
        try inbox.clear()
        #expect(try inbox.content().entries == [])
    }

    @Test func `Of too many entries the newest stay`() throws {
        let inbox = Inbox(SimulatedDisk())
        let count = Inbox<SimulatedDisk>.maximumEntries
        for number in 1...(count + 5) { try inbox.add(entry(number, count: 1)) }
        #expect(try inbox.content().entries.map(\.id.number) == (6...UInt32(count + 5)).map { $0 })
    }

    @Test func `Files that are none are told and cleared, and nothing of them is read as an entry`() throws {
        let id = entry(1).id
        let files: [String: [UInt8]] = [
            "x": [1], "\(id).new": [], "\(entry(2).id).entry": Array("nfc-inbox 1 5\nabc".utf8),
            "\(entry(3).id).entry": Array("nfc-inbox 1 -1\n".utf8),
            "\(entry(4).id).entry": Array("nfc-inbox 1 99999999999999999999\n".utf8),
            "\(entry(5).id).new": [UInt8](repeating: 0, count: 1 << 20), "a.tmp": [1],
            "\(entry(6).id).entry": Array("nfc-inbox 1 3\nabc".utf8),
        ]
        let inbox = Inbox(SimulatedDisk(files))
        let content = try inbox.content()
        #expect(content.entries.map(\.message) == [[0x61, 0x62, 0x63]])
        #expect(content.damaged.count == 6)
        try inbox.recover()
        try inbox.clear()
        #expect(try inbox.content().damaged == [])
    }

    @Test func `Names of entries are whole or none`() {
        let id = InboxEntry.ID(received: 0x0123_4567_89AB, number: 0xCDEF)
        #expect("\(id)" == "0123456789ab0000cdef")
        #expect(InboxEntry.ID("\(id)") == id)
        for text in ["", "0123456789ab0000cde", "0123456789AB0000cdef", "../3456789ab0000cdef", "+123456789ab0000cdef"]
        {
            #expect(InboxEntry.ID(text) == nil)
        }
    }
}
