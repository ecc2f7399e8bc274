// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols  // the walk over TLVs and the plan of a write are internal

/// Where a message is in a tag's memory, and in which steps another one is written (NFC Forum T2T 1.2, 4.3 and 5.1).
struct TLVTests {
    /// What a walk over bytes finds: the area from the message TLV on, its length, the addresses of the message, and what
    /// control TLVs reserve; or what it asks for, or its error.
    private static func walk(
        _ text: String,
        area: Range<Int>? = nil,
        reserved: [Range<Int>] = [],
        hasControls: Bool = true,
        isForWriting: Bool = false
    ) -> String {
        var memory = TagMemory(unitSize: 1, limit: 4096)
        memory.store(bytes(text), at: 0)
        var walk = TLVWalk(
            area: area ?? 0..<bytes(text).count,
            reserved: reserved,
            hasControls: hasControls,
            specification: "X, 1",
            isForWriting: isForWriting
        )
        do {
            switch try walk.advance(in: memory) {
            case .read(let address): return "read \(address)"
            case .found(let layout):
                let addresses = layout.isBroken ? [] : layout.messageAddresses
                var result = "\(layout.area.lowerBound) \(layout.messageLength):"
                var rest = addresses[...]
                while let first = rest.first {
                    let run = rest.enumerated().prefix { $0.element == first + $0.offset }.count
                    result += " \(first)-\(first + run - 1)"
                    rest = rest.dropFirst(run)
                }
                return result + layout.controls.map { " +\($0.range.lowerBound)-\($0.range.upperBound - 1)" }.joined()
            }
        } catch { return error.code.description }
    }

    // MARK: The walk

    @Test(arguments: [
        ("0302aabbfe", "0 2: 2-3"), ("00000301aafe", "2 1: 4-4"), ("0500 fd03010203 0301aa", "7 1: 9-9"),
        ("03ff0002aabbfe", "0 2: 4-5"), ("0300", "0 0:"), ("01020102 0300", "4 0:"), ("04ff0001aa 0301bb", "5 1: 7-7"),
        // No message, or one that runs past the end.
        ("", "no-ndef-tlv"), ("0000", "no-ndef-tlv"), ("fe0300", "no-ndef-tlv"), ("00fe", "no-ndef-tlv"),
        ("0501aa", "no-ndef-tlv"), ("03", "tlv-overrun"), ("0302aa", "tlv-overrun"), ("03ff00", "tlv-overrun"),
        ("03ff0002aa", "tlv-overrun"), ("0502aa", "tlv-overrun"), ("00050b", "tlv-overrun"),
        ("fdff0302", "tlv-overrun"),
        // Control TLVs reserve bytes: three from address 12 on, in pages of 4; from 8 on, in pages of 8.
        ("0203300302 0307 aabbccddee ffffff 0102", "5 7: 7-11 15-16 +12-14"),
        ("02ff0003300302 0303aabbcc", "7 3: 9-11 +12-14"), ("0203100303 000000 ffffff 0301aa", "11 1: 13-13 +8-10"),
        ("0203100203 0103 18 ffff 0903 0306 aabb ffff ccddeeff", "12 6: 14-15 18-21 +8-9 +16-17"),
        // With another length, and behind the message, they say nothing.
        ("02023003 0303aabbcc", "4 3: 6-8"), ("02ff000130 0303aabbcc", "5 3: 7-9"),
        ("0301aa 0203100203 000000", "0 1: 2-2"),
    ]) func `TLV walk: finds the message behind other TLVs and without reserved bytes, or throws its error`(
        text: String,
        result: String
    ) { #expect(Self.walk(text) == result) }

    @Test
    func
        `TLV walk for a write: a message beyond the end is accepted, other overruns are not; 32 control TLVs count`()
    {
        #expect(Self.walk("0302aa", isForWriting: true) == "0 2:")
        for text in ["0502aa", "03ff00"] { #expect(Self.walk(text, isForWriting: true) == "tlv-overrun") }
        #expect(Self.walk("0203300302 0303aabbcc", hasControls: false) == "5 3: 7-9")
        // Up to 32 control TLVs are taken.
        let many = Self.walk("{40*0203400100}0300", area: 0..<202)
        #expect(many.split(separator: "+").count == 33)
    }

    @Test(arguments: [("", 0), ("03", 1), ("03ff", 2), ("03ff00", 3), ("0102", 4), ("010300", 3), ("05010000", 4)])
    func `TLV walk: asks for an unknown byte at the address where it is needed`(known: String, address: Int) {
        #expect(Self.walk(known, area: 0..<64) == "read \(address)")
    }

    @Test(
        arguments: [
            ("03 ffff 02aabbfe", [1..<3], "0 2: 4-5"), ("fd03aa ffff bbcc 0301dd", [3..<5], "7 1: 9-9"),
            ("fd03aabbcc ffff 0301dd", [5..<7], "7 1: 9-9"), ("fd ffff 03aabbcc 0301dd", [1..<3], "7 1: 9-9"),
            ("fdff0004 aa ffff bb ffff ccdd 0301ee", [5..<7, 8..<10], "12 1: 14-14"),
            ("0103a0 ffff 1044 0301dd", [3..<5], "7 1: 9-9 +160-161"),
            ("0203300302 fd08 0102030405 ffffff 060708 0301aa", [], "18 1: 20-20 +12-14"),
        ] as [(String, [Range<Int>], String)]
    ) func `TLV walk: a TLV over reserved bytes ends as many bytes later`(
        text: String,
        reserved: [Range<Int>],
        result: String
    ) { #expect(Self.walk(text, reserved: reserved) == result) }

    /// A value, whether it is a lock control TLV, and its address, its bytes and the bytes for each lock bit.
    @Test(arguments: [
        ("a01044", true, 160, 2, 16), ("a50144", true, 165, 1, 16), ("f23033", false, 122, 48, 8),
        ("120002", false, 6, 256, 1), ("120002", true, 6, 32, 1), ("0009f0", true, 0, 2, 32768),
    ]) func `Lock or Memory Control TLV: decoded to its address range and the bytes for each lock bit`(
        value: String,
        isLock: Bool,
        address: Int,
        count: Int,
        perBit: Int
    ) {
        let control = TLVControl(value: bytes(value), isLock: isLock)
        #expect(control.range == address..<address + count && control.bytesPerLockBit == perBit)
    }

    // MARK: The layout and the memory

    @Test func `TLV layout: reserved ranges are joined and cut to the area, and addresses skip them`() {
        let layout = TLVLayout(area: 10..<50, reserved: [20..<25, 0..<12, 24..<30, 30..<31, 45..<60, 40..<40, 22..<23])
        #expect(layout.reserved == [10..<12, 20..<31, 45..<50] && layout.count == 40 - 2 - 11 - 5)
        #expect(layout.addresses(0..<layout.count) == Array(12..<20) + Array(31..<45))
        for (range, addresses) in [(7..<9, [19, 31]), (20..<30, [43, 44]), (3..<3, []), (22..<25, [])] {
            #expect(layout.addresses(range) == addresses)
        }
    }

    @Test(arguments: [
        (0, 0), (1, 0), (2, 0), (3, 1), (256, 254), (257, 254), (258, 254), (259, 255), (2000, 1996), (65539, 65534),
        (65538, 65534), (99999, 65534),
    ]) func `TLV layout: the capacity is the area less type and length`(count: Int, capacity: Int) {
        #expect(TLVLayout(area: 0..<count, reserved: []).capacity == capacity)
    }

    @Test func `Tag memory: keeps whole units below its limit, finds unknown runs, and forgets single units`() {
        var pages = TagMemory(unitSize: 4, limit: 1024)
        pages.store([UInt8](1...10), at: 2)
        #expect(pages[unit: 2] == [1, 2, 3, 4] && pages[unit: 3] == [5, 6, 7, 8] && pages[unit: 4] == nil)
        #expect(pages[byte: 15] == 8 && pages[byte: 16] == nil && pages[byte: 7] == nil)
        pages.store([UInt8](repeating: 9, count: 16), at: 1022)
        #expect(pages.contains(1023) && !pages.contains(1024) && pages.reaches(1023) && !pages.reaches(1024))
        let runs = [0..<10: 0..<2, 2..<10: 4..<10, 250..<300: 250..<300]
        for (range, run) in runs { #expect(pages.firstUnknownRun(in: range) == run) }
        #expect(pages.firstUnknownRun(in: 2..<4) == nil)
        pages.forget(2)
        #expect(pages[unit: 2] == nil && pages[byte: 12] == 5)
    }

    // MARK: The plan of a write

    /// A new message, the memory, and the units that are written. The first is part of a message whose length shares it.
    @Test(arguments: [
        ("aa", "0300fe00 00000000", "0:0301aafe"), ("", "0301aafe 00000000", "0:0300fefe"),
        ("aa", "0301aafe 00000000", ""), ("aabb", "0300fe00 00000000", "0:0302aabb 1:fe000000"),
        ("11223344556677", "0304aabb ccddfe00 00000000", "0:0300aabb 1:33445566 2:77fe0000 0:03071122"),
        ("11223344556677", "0300fe00 00000000 00000000", "1:33445566 2:77fe0000 0:03071122"),
        ("1122ccddfe00", "0300fe00 ccddfe00 fe000000", "0:03061122"),
    ]) func `TLV write: the length is emptied first and set last, and units that stay the same are not written`(
        message: String,
        old: String,
        steps: String
    ) {
        var memory = TagMemory(unitSize: 4, limit: 16)
        memory.store(bytes(old), at: 0)
        let plan = TLVWritePlan(
            bytes(message),
            layout: TLVLayout(area: 0..<bytes(old).count, reserved: []),
            unitSize: 4
        )
        #expect(plan.steps(memory).map { "\($0.unit):" + hex($0.bytes) }.joined(separator: " ") == steps)
    }

    @Test func `TLV write: a length in three bytes is set last; units shared with other bytes are preserved`() {
        let long = TLVWritePlan(message(255), layout: TLVLayout(area: 0..<300, reserved: []), unitSize: 4)
        let steps = long.steps(TagMemory(unitSize: 4, limit: 128))
        #expect(steps.last?.bytes == [0x00, 0xFF, 0x00, 0xFF] && steps.first?.bytes == [0x00, 0x00, 0x00, 0xFF])
        #expect(long.units == Array(0...64) && steps.count == 66)
        #expect(TLVWritePlan([], layout: TLVLayout(area: 0..<8, reserved: []), unitSize: 4).units == [0])
        let plan = TLVWritePlan(message(20), layout: TLVLayout(area: 5..<31, reserved: [13..<14]), unitSize: 4)
        #expect(plan.units == [1, 2, 3, 4, 5, 6, 7] && plan.unitsToPreserve == [1, 3, 7])
    }
}
