// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinkDelivery
import LinuxSupport
import Testing

/// The marks of entries: which are wanted, and which were dismissed.
struct DeliveryFlagsTests {
    private static let ids = (1...3).map { InboxEntry.ID(received: UInt64($0), number: 7) }

    private func marks(_ disk: some FileStore, boot: String? = "one") -> [InboxEntry.ID: DeliveryFlag] {
        DeliveryFlags(disk, boot: boot).marks
    }

    @Test func `delivery flags: kept when the service restarts; 'wanted' is lost when the system restarts`() throws {
        let disk = SimulatedDisk()
        var marks = DeliveryFlags(disk, boot: "one")
        try marks.keep(.wanted, of: Self.ids[0])
        for id in Self.ids[1...] { try marks.keep(.dismissed, of: id) }
        try marks.keep(nil, of: Self.ids[2])
        for loss in SimulatedDisk.Loss.allCases {
            let files = disk.afterPowerLoss(loss)
            #expect(self.marks(SimulatedDisk(files)) == [Self.ids[0]: .wanted, Self.ids[1]: .dismissed])
            #expect(self.marks(SimulatedDisk(files), boot: "two") == [Self.ids[1]: .dismissed])
            #expect(self.marks(SimulatedDisk(files), boot: nil) == [Self.ids[1]: .dismissed])
        }
    }

    @Test func `delivery flags: one for each entry is read again, those of removed entries are not`() throws {
        let disk = SimulatedDisk()
        var marks = DeliveryFlags(disk, boot: "9f8e7d6c-0000-4000-8000-123456789abc")
        let ids = (0..<BackgroundReader.maximumEntries).map { InboxEntry.ID(received: .max - UInt64($0), number: .max) }
        for id in ids { try marks.keep(.dismissed, of: id) }
        #expect(self.marks(disk, boot: nil) == marks.marks && marks.marks.count == ids.count)
        let steps = disk.steps
        try marks.keepOnly(Set(ids))
        try marks.keep(.dismissed, of: ids[0])
        #expect(disk.steps == steps)
        try marks.keepOnly([ids[1]])
        #expect(self.marks(disk) == [ids[1]: .dismissed])
    }

    @Test func `delivery flags in a damaged file: none`() {
        let damaged = "\n\(Self.ids[0])\n\(Self.ids[0]) wished -\n\(Self.ids[0]) wanted - -\nx wanted -\n\u{0}"
        #expect(marks(SimulatedDisk(["marks": Array(damaged.utf8)]), boot: nil) == [:])
    }

    @Test func `delivery flags on a full disk: a change is written with the next call`() throws {
        for forgets in [true, false] {
            let disk = RefusingDisk()
            var marks = DeliveryFlags(disk, boot: "one")
            try marks.keep(.wanted, of: Self.ids[0])
            disk.isFull = true
            #expect(throws: StorageError.self) { try marks.keep(nil, of: Self.ids[0]) }
            #expect(marks.marks == [:] && self.marks(disk) == [Self.ids[0]: .wanted])
            disk.isFull = false
            if forgets { try marks.keep(nil, of: Self.ids[0]) } else { try marks.keepOnly(Set(Self.ids)) }
            #expect(self.marks(disk) == [:])
        }
    }

    @Test func `folder replaced: the flags are written to the new folder, or with the next call when it is full`()
        throws
    {
        let (first, second, third) = (RefusingDisk(), RefusingDisk(), RefusingDisk())
        var marks = DeliveryFlags(first, boot: "one")
        try marks.keep(.wanted, of: Self.ids[0])
        try marks.move(to: second)
        #expect(self.marks(second) == [Self.ids[0]: .wanted])
        third.isFull = true
        #expect(throws: StorageError.self) { try marks.move(to: third) }
        third.isFull = false
        // The flag is the same, and is written all the same.
        try marks.keep(.wanted, of: Self.ids[0])
        #expect(self.marks(third) == [Self.ids[0]: .wanted])
        try marks.keep(nil, of: Self.ids[0])
        #expect(self.marks(third) == [:] && self.marks(first) == [Self.ids[0]: .wanted])
    }
}

/// Whether the screen was unlocked since the system started.
struct UnlockHistoryTests {
    @Test func `unlock: remembered for the current boot ID only, and written once`() {
        let boot = "9f8e7d6c-0000-4000-8000-123456789abc"
        let disk = SimulatedDisk(["unlocked": Array("another".utf8)])
        var memory = UnlockHistory(disk, boot: boot)
        #expect(!memory.isRemembered)
        memory.remember()
        let steps = disk.steps
        memory.remember()
        #expect(memory.isRemembered && disk.steps == steps)
        let files = disk.afterPowerLoss(.allLost)
        #expect(files == ["unlocked": Array(boot.utf8)])
        for (other, isRemembered) in [(boot, true), ("two", false), (nil, false)] as [(String?, Bool)] {
            #expect(UnlockHistory(SimulatedDisk(files), boot: other).isRemembered == isRemembered)
        }
        let long = String(repeating: "x", count: 10_000)
        #expect(!UnlockHistory(SimulatedDisk(["unlocked": Array(long.utf8)]), boot: long).isRemembered)
    }

    @Test func `unlock without a boot ID or on a full disk: remembered in memory, and written when the disk takes it`()
    {
        let nameless = SimulatedDisk()
        var unnamed = UnlockHistory(nameless, boot: nil)
        unnamed.remember()
        #expect(unnamed.isRemembered && nameless.afterPowerLoss(.allLost) == [:])
        let disk = RefusingDisk()
        var memory = UnlockHistory(disk, boot: "one")
        disk.isFull = true
        memory.remember()
        #expect(memory.isRemembered && !UnlockHistory(disk, boot: "one").isRemembered)
        disk.isFull = false
        memory.remember()
        #expect(UnlockHistory(disk, boot: "one").isRemembered)
    }
}
