// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinkDelivery
import PrivateStorage
import Testing

@Suite struct `The marks of entries` {
    private static let ids = (1...3).map { InboxEntry.ID(received: UInt64($0), number: 7) }

    @Test func `They survive a new start of the service, and a wish does not survive a new start of the system`() throws
    {
        let disk = SimulatedDisk()
        var marks = EntryMarks(disk, boot: "one")
        try marks.keep(.wanted, of: Self.ids[0])
        try marks.keep(.dismissed, of: Self.ids[1])
        try marks.keep(.dismissed, of: Self.ids[2])
        try marks.keep(nil, of: Self.ids[2])
        let files = disk.afterPowerLoss(.allKept)
        #expect(EntryMarks(SimulatedDisk(files), boot: "one").marks == [Self.ids[0]: .wanted, Self.ids[1]: .dismissed])
        #expect(EntryMarks(SimulatedDisk(files), boot: "two").marks == [Self.ids[1]: .dismissed])
        #expect(EntryMarks(SimulatedDisk(files), boot: nil).marks == [Self.ids[1]: .dismissed])
    }

    @Test func `What is kept is on the disk, whatever happens then`() throws {
        for loss in SimulatedDisk.Loss.allCases {
            let disk = SimulatedDisk()
            var marks = EntryMarks(disk, boot: "one")
            try marks.keep(.wanted, of: Self.ids[0])
            let files = disk.afterPowerLoss(loss)
            #expect(EntryMarks(SimulatedDisk(files), boot: "one").marks == [Self.ids[0]: .wanted])
        }
    }

    @Test func `A wish that the disk does not forget at first is forgotten with the next call`() throws {
        for forgets in [true, false] {
            let disk = RefusingDisk()
            var marks = EntryMarks(disk, boot: "one")
            try marks.keep(.wanted, of: Self.ids[0])
            disk.isFull = true
            #expect(throws: StorageError.self) { try marks.keep(nil, of: Self.ids[0]) }
            #expect(marks.marks == [:])
            #expect(EntryMarks(disk, boot: "one").marks == [Self.ids[0]: .wanted])
            disk.isFull = false
            if forgets { try marks.keep(nil, of: Self.ids[0]) } else { try marks.keepOnly(Set(Self.ids)) }
            #expect(EntryMarks(disk, boot: "one").marks == [:])
        }
    }

    @Test func `As many as there are entries are read again`() throws {
        let disk = SimulatedDisk()
        var marks = EntryMarks(disk, boot: "9f8e7d6c-0000-4000-8000-123456789abc")
        for number in 1...BackgroundReader.maximumEntries {
            try marks.keep(.dismissed, of: InboxEntry.ID(received: UInt64(number), number: .max))
        }
        let again = EntryMarks(disk, boot: nil)
        #expect(again.marks == marks.marks && again.marks.count == BackgroundReader.maximumEntries)
    }

    @Test func `They go on in another folder when theirs is gone`() throws {
        let (first, second) = (SimulatedDisk(), SimulatedDisk())
        var marks = EntryMarks(first, boot: "one")
        try marks.keep(.wanted, of: Self.ids[0])
        try marks.move(to: second)
        #expect(EntryMarks(second, boot: "one").marks == [Self.ids[0]: .wanted])
        try marks.keep(.dismissed, of: Self.ids[1])
        #expect(EntryMarks(second, boot: "one").marks == [Self.ids[0]: .wanted, Self.ids[1]: .dismissed])
        #expect(EntryMarks(first, boot: "one").marks == [Self.ids[0]: .wanted])
    }

    @Test func `They are written to their new folder with the next call where that took nothing at first`() throws {
        let (first, second) = (RefusingDisk(), RefusingDisk())
        var marks = EntryMarks(first, boot: "one")
        try marks.keep(.wanted, of: Self.ids[0])
        second.isFull = true
        #expect(throws: StorageError.self) { try marks.move(to: second) }
        second.isFull = false
        // The mark is the same, and is written all the same.
        try marks.keep(.wanted, of: Self.ids[0])
        #expect(EntryMarks(second, boot: "one").marks == [Self.ids[0]: .wanted])
        try marks.keep(nil, of: Self.ids[0])
        #expect(EntryMarks(second, boot: "one").marks == [:])
        #expect(EntryMarks(first, boot: "one").marks == [Self.ids[0]: .wanted])
    }

    @Test func `Those of entries that are gone are forgotten, and a damaged file has none`() throws {
        let disk = SimulatedDisk()
        var marks = EntryMarks(disk, boot: nil)
        for id in Self.ids { try marks.keep(.wanted, of: id) }
        let steps = disk.steps
        try marks.keepOnly(Set(Self.ids))
        try marks.keep(.wanted, of: Self.ids[0])
        #expect(disk.steps == steps)
        try marks.keepOnly([Self.ids[1]])
        let files = disk.afterPowerLoss(.allKept)
        #expect(EntryMarks(SimulatedDisk(files), boot: nil).marks == [Self.ids[1]: .wanted])
        let damaged = "\n\(Self.ids[0])\n\(Self.ids[0]) wished -\n\(Self.ids[0]) wanted - -\nx wanted -\n\u{0}"
        #expect(EntryMarks(SimulatedDisk(["marks": Array(damaged.utf8)]), boot: nil).marks == [:])
    }
}
