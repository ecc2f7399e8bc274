// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import TestThreads
import Testing

struct InboxTests {
    private static let maximum = Inbox<SimulatedDisk>.maximumEntries

    private func entry(_ number: Int, count: Int = 40) -> InboxEntry {
        let id = InboxEntry.ID(received: UInt64(number), number: UInt32(number))
        return InboxEntry(id: id, message: [UInt8](repeating: UInt8(number & 255), count: count))
    }

    // MARK: Power failures

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

    @Test func `power failure at every step: no entry is lost, doubled or damaged`() throws {
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
                let ids = Set(content.entries.map(\.id))
                let certain = Set(promise.kept.keys).subtracting(promise.open)
                #expect(content.damaged == [] && ids.count == content.entries.count, "step \(last), \(loss)")
                #expect(certain.isSubset(of: ids), "step \(last), \(loss)")
                #expect(ids.isSubset(of: certain.union(promise.open)), "step \(last), \(loss)")
                for entry in content.entries { #expect(entry.message == self.entry(Int(entry.id.number)).message) }
                #expect(try left.names().count == content.entries.count)
            }
        }
    }

    @Test func `power failure right after a change: the change is kept`() throws {
        let damaged = "\(entry(9).id).entry"
        func left(_ change: (Inbox<SimulatedDisk>) throws -> Void) throws -> Inbox<SimulatedDisk>.Content {
            let disk = SimulatedDisk([damaged: [1]])
            let inbox = Inbox(disk)
            for number in 1...2 { try inbox.add(entry(number)) }
            try change(inbox)
            return try Inbox(SimulatedDisk(disk.afterPowerLoss(.allLost))).content()
        }
        #expect(try left { try $0.markAnnounced(entry(1).id) }.entries.map(\.isAnnounced) == [true, false])
        #expect(try left { _ = try $0.remove([entry(1).id]) }.entries == [entry(2)])
        let changes: [(Inbox<SimulatedDisk>) throws -> Void] = [
            { _ = try $0.remove([entry(9).id]) }, { _ = try $0.removeDamaged() },
        ]
        for change in changes {
            let content = try left(change)
            #expect(content.entries == [entry(1), entry(2)] && content.damaged == [])
        }
        let cleared = try left { _ = try $0.clear() }
        #expect(cleared.entries == [] && cleared.damaged == [])
    }

    // MARK: Entries

    @Test func `entries: read in order and once, with their announced flags, up to the largest message`() throws {
        let disk = SimulatedDisk()
        let inbox = Inbox(disk)
        for number in [3, 1, 2] { try inbox.add(entry(number)) }
        for number in [2, 9] { try inbox.markAnnounced(entry(number).id) }
        try inbox.add(entry(1))
        let entries = try inbox.content().entries
        #expect(entries.map(\.id.number) == [1, 2, 3] && entries.map(\.isAnnounced) == [false, true, false])
        // An entry with both of its names is one, and goes with both.
        try inbox.add(entry(2))
        #expect(try inbox.content().entries == entries)
        try inbox.remove(entry(2).id)
        #expect(try disk.names().count == 2 && inbox.clear().entries == 2)
        let largest = entry(1, count: BackgroundReader.maximumMessageSize)
        try inbox.add(largest)
        #expect(try inbox.content().entries == [largest])
    }

    @Test func `too many entries: the newest are kept, after adding and after an interrupted run`() throws {
        let inbox = Inbox(SimulatedDisk())
        for number in 1...(Self.maximum + 5) { try inbox.add(entry(number, count: 1)) }
        #expect(try inbox.content().entries.map(\.id.number) == Array(6...UInt32(Self.maximum + 5)))
        let names = (1...Self.maximum + 2).map { "\(entry($0).id).entry" }
        let files = Dictionary(uniqueKeysWithValues: names.map { ($0, Array("nfc-inbox 1 1\nx".utf8)) })
        let recovered = Inbox(SimulatedDisk(files))
        try recovered.recover()
        #expect(try recovered.content().entries.map(\.id.number) == Array(3...UInt32(Self.maximum + 2)))
    }

    @Test func `clock set back: a new entry is kept in a full inbox, and the next identifier is above all others`()
        throws
    {
        let inbox = Inbox(SimulatedDisk())
        for number in 1000..<(1000 + Self.maximum) { try inbox.add(entry(number, count: 1)) }
        try inbox.add(entry(1))
        #expect(try inbox.content().entries.first?.id == entry(1).id)
        let identifiers = try inbox.identifiers()
        #expect(identifiers.count == Self.maximum)
        #expect(entry(2).id.following(identifiers) > (try #require(identifiers.max())))
        let full = InboxEntry.ID(received: 5, number: .max)
        let greatest = InboxEntry.ID(received: .max, number: .max)
        let rows: [([InboxEntry.ID], InboxEntry.ID)] = [
            ([entry(1).id, entry(2).id], entry(3).id), ([greatest], entry(3).id),
            ([entry(3).id], InboxEntry.ID(received: 3, number: 4)), ([full], InboxEntry.ID(received: 6, number: 0)),
        ]
        for (others, id) in rows { #expect(entry(3).id.following(others) == id) }
    }

    @Test func `identifiers: 20 lowercase hexadecimal digits, of 48 bits of time and a number, nothing else`() {
        let id = InboxEntry.ID(received: 0x0123_4567_89AB, number: 0xCDEF)
        #expect("\(id)" == "0123456789ab0000cdef" && InboxEntry.ID("\(id)") == id)
        let late = InboxEntry.ID(received: 0x1_0000_0000_0005, number: 1)
        #expect(late.received == 5 && InboxEntry.ID("\(late)") == late)
        for text in ["", "0123456789ab0000cde", "0123456789AB0000cdef", "../3456789ab0000cdef", "+123456789ab0000cdef"]
        {
            #expect(InboxEntry.ID(text) == nil)
        }
    }

    // MARK: Damage

    @Test func `damaged files: reported, removed by identifier or with all, and never read as entries`() throws {
        let unfinished = "\(entry(6).id).entry.tmp"
        let files: [String: [UInt8]] = [
            "x": [1], "\(entry(1).id).new": [], "\(entry(2).id).entry": Array("nfc-inbox 1 5\nabc".utf8),
            "\(entry(3).id).entry": Array("nfc-inbox 1 -1\n".utf8),
            "\(entry(4).id).entry": Array("nfc-inbox 1 99999999999999999999\n".utf8),
            "\(entry(5).id).new": [UInt8](repeating: 0, count: 1 << 20), "a.tmp": [1],
            "\(entry(6).id).entry": Array("nfc-inbox 1 3\nabc".utf8), unfinished: [1],
        ]
        let inbox = Inbox(SimulatedDisk(files))
        var content = try inbox.content()
        #expect(content.entries.map(\.message) == [[0x61, 0x62, 0x63]])
        #expect(content.damaged.count == 7 && !content.damaged.contains(unfinished))
        #expect(content.damagedEntries.sorted() == (1...5).map { entry($0).id })
        #expect(try inbox.remove([entry(7).id]) == nil)
        let removal = try #require(try inbox.remove([entry(2).id]))
        #expect(removal.entries == 0 && removal.damaged == 1 && removal.kept.isEmpty)
        try inbox.recover()
        #expect(try inbox.clear().damaged == 5)
        content = try inbox.content()
        #expect(content.damaged == [] && content.entries == [])
    }

    @Test(arguments: [StorageError.Code.missing, .tooLarge, .unsafe, .denied, .failed])
    func `entry that can't be read: left out if it is gone, an error if the disk fails, else damaged`(
        code: StorageError.Code
    ) throws {
        let name = "\(entry(2).id).entry"
        let inbox = Inbox(RacedDisk(removed: name, code: code))
        try inbox.add(entry(1))
        if code == .failed {
            #expect(throws: StorageError(code, "")) { try inbox.content() }
        } else {
            let content = try inbox.content()
            #expect(content.entries == [entry(1)] && content.damaged == (code == .missing ? [] : [name]))
        }
    }

    @Test func `folders inside the inbox: kept with a reason, and entries beside them work`() throws {
        let scratch = try Scratch()
        let inbox = Inbox(try PrivateFolder(store: scratch.path))
        for number in 1...3 { try inbox.add(entry(number)) }
        // In the place of a file's other name, of an entry that is gone, of an unfinished file, and of nothing.
        let folders = ["\(entry(2).id).entry", "\(entry(0).id).new", "a.tmp", "a folder"]
        for name in folders { try scratch.write("\(name)/a file in it", "x") }
        try scratch.write("broken", "x")
        try inbox.recover()
        let one = try #require(try inbox.remove([entry(1).id]))
        #expect(one.entries == 1 && one.kept.isEmpty)
        let damaged = try inbox.removeDamaged()
        #expect(damaged.entries == 0 && damaged.damaged == 1)
        #expect(damaged.kept.map(\.name) == ["\(entry(0).id).new", "\(entry(2).id).entry", "a folder", "a.tmp"])
        let all = try inbox.clear()
        #expect(all.entries == 1 && all.damaged == 0 && all.kept.contains { $0.name == "a folder" })
        #expect(try inbox.content().entries == [])
        for number in 1...(Self.maximum + 2) { try inbox.add(entry(number, count: 1)) }
        #expect(try inbox.content().entries.count == Self.maximum)
    }

    @Test func `sockets, pipes and empty folders in the inbox: reported as damaged, and removed with damaged files`()
        throws
    {
        let scratch = try Scratch()
        let inbox = Inbox(try PrivateFolder(store: scratch.path))
        try inbox.add(entry(1))
        try scratch.write("\(entry(2).id).entry", "x", mode: 0)
        let results = [
            unsafe mknod("\(scratch.path)/\(entry(3).id).entry", S_IFSOCK | 0o600, 0),
            unsafe mkfifo("\(scratch.path)/\(entry(4).id).new", 0o600),
            unsafe mkdir("\(scratch.path)/\(entry(5).id).entry", 0o700),
            unsafe mkdir("\(scratch.path)/x.tmp", 0o700),
        ]
        #expect(results == [0, 0, 0, 0])
        let content = try inbox.content()
        #expect(content.entries.map(\.id) == [entry(1).id] && content.damaged.count == 5)
        let removal = try inbox.removeDamaged()
        #expect(removal.damaged == 5 && removal.kept.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).count == 1)
    }

    @Test func `inbox folder that is moved, removed or replaced by a link: reported as not in place`() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/inbox"
        let inbox = Inbox(try PrivateFolder(store: path))
        #expect(inbox.isInPlace)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        #expect(!inbox.isInPlace)
        let second = Inbox(try PrivateFolder(store: path))
        #expect(!inbox.isInPlace && second.isInPlace)
        try FileManager.default.removeItem(atPath: path)
        #expect(!second.isInPlace)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".old")
        #expect(!inbox.isInPlace)
    }

    // MARK: Claims

    @Test func `claim of an entry: held by one process at a time, and the entry stays readable`() throws {
        let scratch = try Scratch()
        let first = Inbox(try PrivateFolder(store: scratch.path + "/inbox"))
        let second = Inbox(try PrivateFolder(store: scratch.path + "/inbox"))
        let id = entry(1).id
        try first.add(entry(1))
        var claim: FileClaim? = try first.claim(id)
        #expect(throws: StorageError(.inUse, "")) { try second.claim(id) }
        try first.markAnnounced(id)
        #expect(throws: StorageError(.inUse, "")) { try second.claim(id) }
        #expect(try second.content().entries.map(\.message) == [entry(1).message])
        withExtendedLifetime(claim) {}
        claim = nil
        claim = try second.claim(id)
        #expect(throws: StorageError(.inUse, "")) { try first.claim(id) }
        try second.remove(id)
        withExtendedLifetime(claim) {}
        #expect(throws: StorageError(.missing, "")) { try first.claim(id) }
        try scratch.write("inbox/\(id).entry/a file in a folder", "x")
        #expect(throws: StorageError.self) { try first.claim(id) }
    }

    @Test(.ownThreads) func `claim of a process that is killed is free again`() async throws {
        let scratch = try Scratch("claim-\(getpid())")
        let inbox = Inbox(try PrivateFolder(store: scratch.path + "/inbox"))
        try inbox.add(entry(1))
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let inbox = Inbox(try PrivateFolder(store: Scratch.path("claim-\(getppid())") + "/inbox"))
            let claim = try inbox.claim(InboxEntry.ID(received: 1, number: 1))
            kill(getpid(), SIGKILL)
            withExtendedLifetime(claim) {}
        }
        let claim = try inbox.claim(entry(1).id)
        await #expect(processExitsWith: .exitCode(7)) {
            let inbox = Inbox(try PrivateFolder(store: Scratch.path("claim-\(getppid())") + "/inbox"))
            do throws(StorageError) {
                _ = try inbox.claim(InboxEntry.ID(received: 1, number: 1))
            } catch {
                exit(error.code == .inUse ? 7 : 8)
            }
        }
        withExtendedLifetime(claim) {}
    }
}

/// A disk with the name of a file that another process has just removed, or that can't be read.
private struct RacedDisk: FileStore {
    let removed: String
    let code: StorageError.Code
    private let disk = SimulatedDisk()

    init(removed: String, code: StorageError.Code) { (self.removed, self.code) = (removed, code) }

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
