// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import PrivateStorage
import Testing

@Suite struct `The inbox` {
    private func entry(_ number: Int, count: Int = 40) -> InboxEntry {
        let id = InboxEntry.ID(received: UInt64(number), number: UInt32(number))
        return InboxEntry(id: id, message: [UInt8](repeating: UInt8(number & 255), count: count))
    }

    /// What must hold after a sequence of steps.
    private struct Promise {
        var kept: [InboxEntry.ID: InboxEntry] = [:]
        /// Entries with an unfinished change: they may exist or not.
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

    @Test func `An unfinished entry is neither an entry nor damaged, and other unfinished files are damaged`() throws {
        let disk = SimulatedDisk()
        let inbox = Inbox(disk)
        try inbox.add(entry(1))
        let name = try #require(try disk.names().first)
        for unfinished in [name + ".tmp", "x.tmp", ".tmp" + name] { try disk.write(unfinished, [1]) }
        let content = try inbox.content()
        #expect(content.entries == [entry(1)] && Set(content.damaged) == ["x.tmp", ".tmp" + name])
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
        #expect(try inbox.clear().entries == 3)
        #expect(try inbox.content().entries == [])
    }

    @Test func `An entry with both of its names is one, which was announced, and goes with both`() throws {
        let disk = SimulatedDisk()
        let inbox = Inbox(disk)
        var announced = entry(1)
        announced.isAnnounced = true
        // The first name could not be changed when its notification was shown, and later it was written again.
        for entry in [self.entry(1), announced] { try inbox.add(entry) }
        #expect(try disk.names().count == 2)
        #expect(try inbox.content().entries == [announced])
        try inbox.remove(announced.id)
        #expect(try disk.names() == [])
    }

    @Test func `The largest message is read again`() throws {
        let inbox = Inbox(SimulatedDisk())
        let largest = entry(1, count: BackgroundReader.maximumMessageSize)
        try inbox.add(largest)
        #expect(try inbox.content().entries == [largest])
    }

    @Test func `What was announced or removed stays so when the power fails right after`() throws {
        func left(_ change: (Inbox<SimulatedDisk>) throws -> Void) throws -> Inbox<SimulatedDisk>.Content {
            let disk = SimulatedDisk(["x": [1]])
            let inbox = Inbox(disk)
            for number in 1...2 { try inbox.add(entry(number)) }
            try change(inbox)
            return try Inbox(SimulatedDisk(disk.afterPowerLoss(.allLost))).content()
        }
        let announced = try left { try $0.markAnnounced(entry(1).id) }
        #expect(announced.entries.map(\.isAnnounced) == [true, false])
        let removed = try left { _ = try $0.remove([entry(1).id]) }
        #expect(removed.entries == [entry(2)])
        let repaired = try left { _ = try $0.removeDamaged() }
        #expect(repaired.entries == [entry(1), entry(2)] && repaired.damaged == [])
        let cleared = try left { _ = try $0.clear() }
        #expect(cleared.entries == [] && cleared.damaged == [])
    }

    @Test func `Of too many entries the newest stay`() throws {
        let inbox = Inbox(SimulatedDisk())
        let count = Inbox<SimulatedDisk>.maximumEntries
        for number in 1...(count + 5) { try inbox.add(entry(number, count: 1)) }
        #expect(try inbox.content().entries.map(\.id.number) == (6...UInt32(count + 5)).map { $0 })
    }

    @Test func `Of too many entries that an interrupted run has left the newest stay`() throws {
        let count = Inbox<SimulatedDisk>.maximumEntries
        let names = (1...count + 2).map { "\(entry($0).id).entry" }
        let files = Dictionary(uniqueKeysWithValues: names.map { ($0, Array("nfc-inbox 1 1\nx".utf8)) })
        let inbox = Inbox(SimulatedDisk(files))
        try inbox.recover()
        #expect(try inbox.content().entries.map(\.id.number) == Array(3...UInt32(count + 2)))
    }

    @Test func `An entry that another process removes while all are read is not there, and not damaged`() throws {
        let disk = RacedDisk(removed: "\(entry(2).id).entry")
        let inbox = Inbox(disk)
        try inbox.add(entry(1))
        let content = try inbox.content()
        #expect(content.entries == [entry(1)] && content.damaged == [])
    }

    @Test(arguments: [StorageError.Code.tooLarge, .unsafe, .denied, .failed])
    func `An entry that can't be read is damaged, unless the disk fails`(code: StorageError.Code) throws {
        let name = "\(entry(2).id).entry"
        let inbox = Inbox(RacedDisk(removed: name, code: code))
        try inbox.add(entry(1))
        if code == .failed {
            #expect(throws: StorageError(code, "")) { try inbox.content() }
        } else {
            let content = try inbox.content()
            #expect(content.entries == [entry(1)] && content.damaged == [name])
        }
    }

    @Test func `Invalid files are reported and cleared, and never read as entries`() throws {
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
        #expect(content.damaged.count == 7)
        try inbox.recover()
        #expect(try inbox.clear().damaged == 6)
        #expect(try inbox.content().damaged == [])
    }

    @Test func `Folders in the inbox keep nothing else from being removed, added or recovered`() throws {
        let scratch = try Scratch()
        let inbox = Inbox(try DirectoryStore(scratch.path))
        for number in 1...3 { try inbox.add(entry(number)) }
        // In the place of a file's other name, of an entry that is there no more, of an unfinished file, and of nothing.
        let folders = ["\(entry(2).id).entry", "\(entry(0).id).new", "a.tmp", "a folder"]
        for name in folders { try scratch.write("\(name)/a file in it", "x") }
        try scratch.write("broken", "x")
        try inbox.recover()
        let one = try #require(try inbox.remove([entry(1).id]))
        #expect(one.entries == 1 && one.kept.isEmpty)
        #expect(try inbox.remove([entry(1).id]) == nil)
        let damaged = try inbox.removeDamaged()
        #expect(damaged.entries == 0 && damaged.damaged == 1)
        #expect(damaged.kept.map(\.name) == ["\(entry(0).id).new", "\(entry(2).id).entry", "a folder", "a.tmp"])
        try scratch.write("broken", "x")
        let all = try inbox.clear()
        #expect(all.entries == 1 && all.damaged == 1)
        for name in ["a folder", "\(entry(2).id)"] {
            #expect(all.kept.contains { $0.name == name && $0.reason.contains("not empty") }, "\(name)")
        }
        #expect(try inbox.content().entries == [])
        for number in 1...(Inbox<DirectoryStore>.maximumEntries + 2) { try inbox.add(entry(number, count: 1)) }
        #expect(try inbox.content().entries.count == Inbox<DirectoryStore>.maximumEntries)
    }

    @Test func `An entry goes with one of its names, though a folder has the other`() throws {
        for isAnnounced in [false, true] {
            let scratch = try Scratch()
            let inbox = Inbox(try DirectoryStore(scratch.path))
            var one = entry(1)
            one.isAnnounced = isAnnounced
            try inbox.add(one)
            try scratch.write("\(one.id)\(isAnnounced ? ".new" : ".entry")/a file in it", "x")
            #expect(throws: StorageError.self) { try inbox.remove(one.id) }
            #expect(try inbox.content().entries == [])
        }
    }

    @Test func `What is added stays, also when the clock was wrong before`() throws {
        let inbox = Inbox(SimulatedDisk())
        let count = Inbox<SimulatedDisk>.maximumEntries
        for number in 1000..<(1000 + count) { try inbox.add(entry(number, count: 1)) }
        try inbox.add(entry(1))
        #expect(try inbox.content().entries.first?.id == entry(1).id)
        #expect(try inbox.content().entries.count == count)
        // One that is named after the others stays the longest.
        let id = entry(2).id.following(try inbox.identifiers())
        let highest = try #require(try inbox.identifiers().max())
        #expect(highest < id)
        try inbox.add(InboxEntry(id: id, message: [1]))
        #expect(try inbox.content().entries.last?.id == id)
        #expect(entry(3).id.following([entry(1).id, entry(2).id]) == entry(3).id)
        let greatest = InboxEntry.ID(received: .max, number: .max)
        #expect(entry(3).id.following([greatest]) == entry(3).id)
        let full = InboxEntry.ID(received: 5, number: .max)
        #expect(entry(3).id.following([full]) == InboxEntry.ID(received: 6, number: 0))
    }

    @Test func `Files of every kind count as damaged and are removed, and the good entries are still read`()
        throws
    {
        let scratch = try Scratch()
        let inbox = Inbox(try DirectoryStore(scratch.path))
        try inbox.add(entry(1))
        try scratch.write("\(entry(2).id).entry", "x", mode: 0)
        var results: [Int32] = []
        results.append(unsafe mknod("\(scratch.path)/\(entry(3).id).entry", S_IFSOCK | 0o600, 0))
        results.append(unsafe mkfifo("\(scratch.path)/\(entry(4).id).new", 0o600))
        results.append(unsafe mkdir("\(scratch.path)/\(entry(5).id).entry", 0o700))
        results.append(unsafe mkdir("\(scratch.path)/x.tmp", 0o700))
        // A name that is not UTF-8.
        let odd = Array(scratch.path.utf8CString.dropLast()) + [0x2F, 0x61, CChar(bitPattern: 0xE9), 0]
        results.append(unsafe mkdir(odd, 0o700))
        #expect(results == [0, 0, 0, 0, 0])
        let content = try inbox.content()
        #expect(content.entries.map(\.id) == [entry(1).id])
        #expect(content.damaged.count == 6)
        let shown = content.damaged.map { FileName.shown($0) }
        #expect(shown.contains("a\\xE9"))
        let removal = try inbox.removeDamaged()
        #expect(removal.damaged == 6)
        #expect(removal.kept.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).count == 1)
        #expect(try inbox.clear().entries == 1)
    }

    @Test func `An entry among twelve thousand other files is found`() throws {
        let scratch = try Scratch()
        let inbox = Inbox(try DirectoryStore(scratch.path))
        for number in 0..<12_000 { close(unsafe open("\(scratch.path)/junk\(number)", O_CREAT | O_WRONLY, 0o600)) }
        try inbox.add(entry(1))
        let content = try inbox.content()
        #expect(content.entries.map(\.id) == [entry(1).id])
        #expect(content.damaged.count == 12_000)
    }

    @Test func `A folder that is moved, removed or replaced is not in its place any more`() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/inbox"
        let inbox = Inbox(try DirectoryStore(path))
        #expect(inbox.isInPlace)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        #expect(!inbox.isInPlace)
        let second = Inbox(try DirectoryStore(path))
        #expect(!inbox.isInPlace && second.isInPlace)
        try FileManager.default.removeItem(atPath: path)
        #expect(!second.isInPlace)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".old")
        #expect(!inbox.isInPlace)
    }

    @Test func `A damaged entry is removed by its identifier`() throws {
        let name = "\(entry(2).id).entry"
        let inbox = Inbox(SimulatedDisk([name: [1], "x": [1]]))
        try inbox.add(entry(1))
        #expect(try inbox.content().damagedEntries == [entry(2).id])
        #expect(try inbox.remove([entry(1).id, entry(3).id]) == nil)
        let removal = try #require(try inbox.remove([entry(2).id]))
        #expect(removal.entries == 0 && removal.damaged == 1 && removal.kept.isEmpty)
        #expect(try inbox.content().damaged == ["x"])
        #expect(try inbox.content().entries.count == 1)
    }

    @Test func `A damaged entry that was removed stays so when the power fails right after`() throws {
        let disk = SimulatedDisk(["\(entry(2).id).entry": [1]])
        #expect(try Inbox(disk).remove([entry(2).id])?.damaged == 1)
        #expect(disk.afterPowerLoss(.allLost).isEmpty)
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

/// A disk with the name of a file that another process has just removed, or that can't be read.
private struct RacedDisk: FileStore {
    let removed: String
    private let disk = SimulatedDisk()

    private let code: StorageError.Code

    init(removed: String, code: StorageError.Code = .missing) { (self.removed, self.code) = (removed, code) }

    func names() throws(StorageError) -> [String] { try disk.names() + [removed] }

    func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8] {
        guard name != removed else { throw StorageError(code, name) }
        return try disk.read(name, limit: limit)
    }

    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) { try disk.write(name, bytes) }

    func rename(_ name: String, to new: String) throws(StorageError) { try disk.rename(name, to: new) }

    func remove(_ name: String) throws(StorageError) { try disk.remove(name) }

    func synchronize() throws(StorageError) { try disk.synchronize() }
}
