// SPDX-License-Identifier: Apache-2.0
import Testing
import VirtualCards
import VirtualTags

@testable import NFCTestKit

/// The parts of a tag's memory, by which an exploration names what is wrong with it.
@Suite struct `A memory in parts` {
    private static func area(_ bytes: [UInt8]) -> MemoryArea { MemoryArea(unitName: "page", unit: 4, bytes: bytes) }

    @Test func `A last part that is not full is one, and behind it there is nothing`() {
        let area = Self.area([1, 2, 3, 4, 5])
        #expect(area.unitCount == 2 && Self.area([]).unitCount == 0)
        #expect(Self.area([1, 2, 3, 4]).unitCount == 1)
        #expect(area[unit: 0] == [1, 2, 3, 4] && area[unit: 1] == [5] && area[unit: 2].isEmpty)
    }

    @Test func `Parts differ in a byte, or because only one of two memories has them`() {
        let area = Self.area([1, 2, 3, 4, 5, 6, 7, 8])
        #expect(area.differences(from: area) == [])
        for (other, differences) in [
            ([1, 2, 3, 4, 5, 6, 7, 9], [1]), ([0, 2, 3, 4, 5, 6, 7, 8], [0]), ([1, 2, 3, 0, 0, 6, 7, 8], [0, 1]),
            ([1, 2, 3, 4, 5, 6, 7], [1]), ([1, 2, 3, 4], [1]), ([], [0, 1]),
            ([1, 2, 3, 4, 5, 6, 7, 8, 9], [2]),
        ] as [([UInt8], [Int])] {
            #expect(area.differences(from: Self.area(other)) == differences, "\(other)")
            #expect(Self.area(other).differences(from: area) == differences, "\(other)")
        }
    }

    @Test(
        arguments: [
            ("Topaz 512", [1, 2, 3, 4, 5, 6, 0x25], "byte", 1), ("NTAG213", [4, 1, 2, 3, 4, 5, 6], "page", 4),
            ("FeliCa Lite-S", [2, 0xFE, 1, 2, 3, 4, 5, 6], "block", 16),
            ("ICODE SLIX", [0xE0, 4, 1, 0x10, 1, 2, 3, 4], "block", 4),
            ("MIFARE Classic 1K", [1, 2, 3, 4], "block", 16),
        ] as [(String, [UInt8], String, Int)]
    )
    func `The parts of a tag are those that commands write`(name: String, uid: [UInt8], unitName: String, unit: Int)
        throws
    {
        let contents = try #require(TagProduct(named: name)).blank(uid: uid)
        let areas = contents.areas
        #expect(areas.map(\.unitName) == [unitName] && areas.map(\.unit) == [unit])
        #expect(areas.allSatisfy { $0.unitCount > 10 && $0.unitCount * $0.unit == $0.bytes.count })
    }

    @Test func `What is written meanwhile is known, and so is that nothing was`() throws {
        guard case .type2(var contents) = try #require(TagProduct(named: "NTAG213")).blank(uid: [4, 1, 2, 3, 4, 5, 6])
        else { throw CancellationError() }
        var course = MemoryCourse(.type2(contents))
        course.add(.type2(contents))
        #expect(!course.isEmpty && !course.hasWrites && MemoryCourse(nil).isEmpty)
        contents.memory[80] = 7
        let before = TagContents.type2(contents)
        #expect(course.finding(of: before, isDone: false)?.hasPrefix("page 20 holds 07 00 00 00, which is ") == true)
        course.add(before)
        #expect(course.hasWrites && course.finding(of: before, isDone: false) == nil)
        contents.memory[80] = 9
        course.add(.type2(contents))
        // What was there in between is lawful, and is not the goal.
        #expect(course.finding(of: before, isDone: false) == nil)
        #expect(
            course.finding(of: before, isDone: true)?.hasPrefix("page 20 holds 07 00 00 00 and not 09 00 00 00,")
                == true
        )
        #expect(course.finding(of: .type2(contents), isDone: true) == nil)
    }
}
