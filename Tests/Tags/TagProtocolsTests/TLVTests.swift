// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// Where a message lies in a tag's memory, and in which steps another one gets there.
@Suite struct `TLVs in a memory` {
    /// A memory of which some bytes are known.
    private static func memory(_ hex: String, unitSize: Int = 4, at address: Int = 0) -> TLVMemory {
        var memory = TLVMemory(unitSize: unitSize, limit: 4096)
        memory.store(bytes(hex), at: address)
        return memory
    }

    private static func walk(
        _ hex: String,
        area: Range<Int>? = nil,
        reserved: [Range<Int>] = [],
        hasControls: Bool = true,
        isForWriting: Bool = false
    ) throws(TagError) -> TLVWalk.Action {
        let memory = memory(hex)
        let count = bytes(hex).count
        var walk = TLVWalk(
            area: area ?? 0..<count,
            reserved: reserved,
            hasControls: hasControls,
            specification: "X, 1",
            isForWriting: isForWriting
        )
        return try walk.advance(in: memory)
    }

    private static func code(_ body: () throws(TagError) -> Void) -> TagError.Code? {
        do throws(TagError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: The walk

    @Test func `Null TLVs and those of other types are passed over, up to the message`() throws {
        for (hex, start, length, size) in [
            ("0302aabbfe", 0, 2, 1), ("00000301aafe", 2, 1, 1), ("0500 fd03010203 0301aa", 7, 1, 1),
            ("03ff0002aabbfe", 0, 2, 3),
            ("0300", 0, 0, 1), ("01020102 0300", 4, 0, 1), ("04ff0001aa 0301bb", 5, 1, 1),
        ] {
            guard case .found(let layout) = try Self.walk(hex) else {
                Issue.record("\(hex)")
                continue
            }
            #expect(
                layout.area == start..<bytes(hex).count && layout.messageLength == length && layout.lengthSize == size
            )
            #expect(layout.messageAddresses == Array(start + 1 + size..<start + 1 + size + length) && !layout.isBroken)
        }
    }

    @Test func `A message that is not there, or runs past the end, is an error`() {
        for (hex, wanted): (String, TagError.Code) in [
            ("", .noMessageTLV), ("0000", .noMessageTLV), ("fe0300", .noMessageTLV), ("00fe", .noMessageTLV),
            ("0501aa", .noMessageTLV),
            ("03", .lengthOverrun), ("0302aa", .lengthOverrun), ("03ff00", .lengthOverrun),
            ("03ff0002aa", .lengthOverrun),
            ("0502aa", .lengthOverrun), ("00050b", .lengthOverrun),
        ] {
            #expect(Self.code { () throws(TagError) in _ = try Self.walk(hex) } == wanted, "\(hex)")
        }
        // A write accepts a damaged message, but no other damage.
        #expect(Self.code { () throws(TagError) in _ = try Self.walk("0302aa", isForWriting: true) } == nil)
        #expect(Self.code { () throws(TagError) in _ = try Self.walk("0502aa", isForWriting: true) } == .lengthOverrun)
        #expect(Self.code { () throws(TagError) in _ = try Self.walk("03ff00", isForWriting: true) } == .lengthOverrun)
    }

    @Test func `What is not known is asked for, byte by byte as it is needed`() throws {
        for (known, address) in [
            ("", 0), ("03", 1), ("03ff", 2), ("03ff00", 3), ("0102", 4), ("010300", 3), ("05010000", 4),
        ] {
            let memory = Self.memory(known)
            var walk = TLVWalk(area: 0..<64, hasControls: true, specification: "")
            #expect(try walk.advance(in: memory) == .read(address: address), "\(known)")
        }
    }

    @Test func `Reserved bytes are no part of any TLV, and control TLVs reserve more`() throws {
        // The length is after a gap of two bytes.
        guard case .found(let gap) = try Self.walk("03 ffff 02aabbfe", reserved: [1..<3]) else { return }
        #expect(gap.messageAddresses == [4, 5] && gap.count == 5)
        // Three bytes from address 12 on, pages of 4: 03 pages and 0 bytes.
        guard case .found(let controlled) = try Self.walk("0203300302 0307 aabbccddee ffffff 0102") else { return }
        #expect(
            controlled.controls.map(\.range) == [12..<15]
                && controlled.messageAddresses == [7, 8, 9, 10, 11, 15, 16]
        )
        guard case .found(let ignored) = try? Self.walk("0203300302 0303aabbcc", hasControls: false) else { return }
        #expect(ignored.controls.isEmpty && ignored.reserved.isEmpty)
        // A control TLV of another length says nothing.
        guard case .found(let odd) = try Self.walk("02023003 0303aabbcc") else { return }
        #expect(odd.controls.isEmpty)
    }

    @Test func `A control TLV may have its length in three bytes, and says nothing with another length there`() throws {
        for (hex, ranges): (String, [Range<Int>]) in [
            ("02ff0003300302 0303aabbcc", [12..<15]), ("02ff000130 0303aabbcc", []),
        ] {
            guard case .found(let layout) = try Self.walk(hex) else {
                Issue.record("\(hex)")
                continue
            }
            #expect(layout.controls.map(\.range) == ranges && layout.messageLength == 3, "\(hex)")
        }
    }

    @Test func `What a control TLV reserves may be right before the message, or in the next control TLV`() throws {
        // Three bytes from address 8 on, in pages of 8.
        guard case .found(let before) = try Self.walk("0203100303 000000 ffffff 0301aa") else {
            Issue.record("not found")
            return
        }
        #expect(before.area == 11..<14 && before.messageAddresses == [13])
        // Two bytes from address 8 on are in the value of the next one, whose nine lock bits are from address 16 on.
        guard case .found(let split) = try Self.walk("0203100203 0103 18 ffff 0903 0306 aabb ffff ccddeeff") else {
            Issue.record("not found")
            return
        }
        #expect(split.controls.map(\.range) == [8..<10, 16..<18] && split.controls.map(\.isLock) == [false, true])
        #expect(split.area == 12..<22 && split.messageAddresses == [14, 15, 18, 19, 20, 21])
        // Behind the message it says nothing.
        guard case .found(let after) = try Self.walk("0301aa 0203100203 000000") else {
            Issue.record("not found")
            return
        }
        #expect(after.controls.isEmpty && after.reserved.isEmpty && after.capacity == 9)
    }

    @Test(
        arguments: [
            ("fd03aa ffff bbcc 0301dd", [3..<5], 7), ("fd03aabbcc ffff 0301dd", [5..<7], 7),
            ("fd ffff 03aabbcc 0301dd", [1..<3], 7), ("fdff0004 aa ffff bb ffff ccdd 0301ee", [5..<7, 8..<10], 12),
            ("0103a0 ffff 1044 0301dd", [3..<5], 7), ("0203300302 fd08 0102030405 ffffff 060708 0301aa", [], 18),
        ] as [(String, [Range<Int>], Int)]
    )
    func `A TLV that straddles reserved bytes ends as many bytes later`(
        hex: String,
        reserved: [Range<Int>],
        start: Int
    ) throws {
        guard case .found(let layout) = try Self.walk(hex, reserved: reserved) else {
            Issue.record("not found")
            return
        }
        #expect(layout.area == start..<bytes(hex).count && layout.messageAddresses == [start + 2])
    }

    @Test func `Control TLVs are taken up to thirty-two`() throws {
        let controls = String(repeating: "0203400100", count: 40)
        guard case .found(let layout) = try Self.walk(controls + "0300", area: 0..<202) else { return }
        #expect(layout.controls.count == 32)
    }

    @Test(
        arguments: [
            ([0xA0, 0x10, 0x44], true, 160, 2, 16), ([0xA5, 0x01, 0x44], true, 165, 1, 16),
            ([0xF2, 0x30, 0x33], false, 122, 48, 8),
            ([0x12, 0x00, 0x02], false, 6, 256, 1), ([0x12, 0x00, 0x02], true, 6, 32, 1),
            ([0x00, 0x09, 0xF0], true, 0, 2, 32768),
        ] as [([UInt8], Bool, Int, Int, Int)]
    )
    func `A control TLV has an address, a count and a size of pages`(
        value: [UInt8],
        isLock: Bool,
        address: Int,
        count: Int,
        perBit: Int
    ) {
        let control = TLVControl(value: value, isLock: isLock)
        #expect(
            control.address == address && control.range == address..<address + count
                && control.bytesPerLockBit == perBit
        )
    }

    // MARK: The layout

    @Test func `Gaps are put together, cut to the area and left out of the count`() {
        let layout = TLVLayout(area: 10..<50, reserved: [20..<25, 0..<12, 24..<30, 30..<31, 45..<60, 40..<40, 22..<23])
        #expect(layout.reserved == [10..<12, 20..<31, 45..<50] && layout.count == 40 - 2 - 11 - 5)
        #expect(layout.addresses(0..<layout.count) == Array(12..<20) + Array(31..<45))
        #expect(
            layout.addresses(7..<9) == [19, 31] && layout.addresses(20..<30) == [43, 44]
                && layout.addresses(3..<3) == []
        )
        #expect(layout.addresses(22..<25) == [])
    }

    @Test(arguments: [
        (0, 0), (1, 0), (2, 0), (3, 1), (256, 254), (257, 254), (258, 254), (259, 255), (2000, 1996), (65539, 65534),
        (65538, 65534), (99999, 65534),
    ])
    func `The room for a message is what is left of its type and its length`(count: Int, capacity: Int) {
        #expect(TLVLayout(area: 0..<count, reserved: []).capacity == capacity)
    }

    @Test func `A memory knows what was stored, up to its limit, until it is forgotten`() {
        var memory = TLVMemory(unitSize: 4, limit: 10)
        #expect(memory[byte: 0] == nil && memory[byte: -1] == nil && memory.unit(0) == nil)
        memory.store([1, 2, 3, 4, 5, 6], at: 3)
        #expect((0..<10).map { memory[byte: $0] } == [nil, nil, nil, 1, 2, 3, 4, 5, 6, nil])
        #expect(memory.unit(1) == [2, 3, 4, 5] && memory.unit(0) == nil && memory.unit(2) == nil && memory.contains(1))
        memory.store([9, 9, 9], at: 8)
        #expect(memory[byte: 9] == 9 && memory[byte: 10] == nil)
        memory.store([7], at: 10)
        #expect(memory[byte: 10] == nil)
        #expect(memory.firstUnknownRun(in: 0..<4) == 0..<1 && memory.firstUnknownRun(in: 1..<4) == 2..<4)
        #expect(memory.firstUnknownRun(in: 1..<2) == nil)
        memory.forget(1)
        #expect(memory.unit(1) == nil && memory[byte: 3] == 1 && memory[byte: 8] == 9)
        memory.forget(9)
    }

    // MARK: The plan of a write

    private static func steps(_ message: String, over old: String, area: Range<Int>? = nil, reserved: [Range<Int>] = [])
        -> [String]
    {
        let memory = memory(old)
        var layout = TLVLayout(area: area ?? 0..<bytes(old).count, reserved: reserved)
        layout.messageLength = 0
        let plan = TLVWritePlan(bytes(message), layout: layout, unitSize: 4)
        return plan.steps(memory).map { "\($0.unit): " + hex($0.bytes) }
    }

    @Test func `A message in the unit of its length is written by one step`() {
        #expect(Self.steps("aa", over: "0300fe00 00000000") == ["0: 0301aafe"])
        #expect(Self.steps("", over: "0301aafe 00000000") == ["0: 0300fefe"])
        #expect(Self.steps("aa", over: "0301aafe 00000000") == [])
        // The end mark after it is written last.
        #expect(Self.steps("aabb", over: "0300fe00 00000000") == ["0: 0302aabb", "1: fe000000"])
    }

    @Test func `A longer message has its length set to zero first, and set last`() {
        let old = "0304aabb ccddfe00 00000000"
        #expect(
            Self.steps("11223344556677", over: old) == ["0: 0300aabb", "1: 33445566", "2: 77fe0000", "0: 03071122"]
        )
        #expect(
            Self.steps("11223344556677", over: "0300fe00 00000000 00000000") == [
                "1: 33445566", "2: 77fe0000", "0: 03071122",
            ]
        )
        // Unchanged units are not written again.
        #expect(Self.steps("1122ccddfe00", over: "0300fe00 ccddfe00 fe000000") == ["0: 03061122"])
    }

    @Test func `A message of more than 254 bytes has its length in three`() {
        let message = [UInt8](repeating: 0x11, count: 255)
        let plan = TLVWritePlan(message, layout: TLVLayout(area: 0..<300, reserved: []), unitSize: 4)
        let steps = plan.steps(TLVMemory(unitSize: 4, limit: 512))
        #expect(steps.last?.bytes == [0x00, 0xFF, 0x00, 0xFF] && steps.first?.bytes == [0x00, 0x00, 0x00, 0xFF])
        #expect(plan.units == Array(0...64) && steps.count == 66)
        #expect(TLVWritePlan([], layout: TLVLayout(area: 0..<8, reserved: []), unitSize: 4).units == [0])
    }

    @Test func `Units at the ends of the area and with gaps are preserved`() {
        let message = [UInt8](repeating: 0x11, count: 20)
        let plan = TLVWritePlan(message, layout: TLVLayout(area: 5..<31, reserved: [13..<14]), unitSize: 4)
        #expect(plan.units == [1, 2, 3, 4, 5, 6, 7] && plan.unitsToPreserve == [1, 3, 7])
        #expect(
            Self.steps("1122334455", over: "03000000 ffffffff 00000000", reserved: [4..<8]) == [
                "2: 334455fe", "0: 03051122",
            ]
        )
    }

    // MARK: Files of Type 4 tags

    private static func plan(_ message: String, lengthSize: Int = 2, old: Int = 0, limit: Int) -> [String] {
        let plan = Type4WritePlan(bytes(message), lengthSize: lengthSize, oldLength: old) { _ in limit }
        return plan.steps.map { "\($0.offset): " + hex($0.bytes) }
    }

    @Test func `A file is written by one command, or with its length last`() {
        #expect(Self.plan("aabb", limit: 4) == ["0: 0002aabb"] && Self.plan("", limit: 2) == ["0: 0000"])
        #expect(Self.plan("aabb", limit: 3) == ["0: 0000aa", "3: bb", "0: 0002"])
        #expect(Self.plan("aabbcc", limit: 2) == ["0: 0000", "2: aabb", "4: cc", "0: 0003"])
        #expect(Self.plan("aabb", lengthSize: 4, limit: 5) == ["0: 00000000aa", "5: bb", "0: 00000002"])
    }

    @Test func `A card that takes less than a length has its bytes written one by one, the highest last`() {
        #expect(Self.plan("aabb", limit: 1) == ["2: aa", "3: bb", "1: 02"])
        #expect(Self.plan("aa", old: 0x0203, limit: 1) == ["1: 00", "0: 00", "2: aa", "1: 01"])
        #expect(Self.plan("", old: 0x0100, limit: 1) == ["0: 00"] && Self.plan("", limit: 1) == [])
        #expect(Self.plan("aabb", lengthSize: 4, old: 1, limit: 3) == ["3: 00", "4: aabb", "3: 02"])
        #expect(Self.plan("aa", limit: 0) == ["2: aa", "1: 01"])
    }
}
