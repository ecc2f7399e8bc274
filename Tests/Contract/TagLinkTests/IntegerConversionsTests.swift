// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

/// The conversions and shifts of known types against the generic ones of the standard library.
@Suite struct `Integers of known types` {
    /// A generic function always uses the standard library's conversion.
    private static func expected<Value: FixedWidthInteger>(_ value: Value, _ count: Int) -> [Value] {
        [value << count, value >> count]
    }

    private static func counts(_ width: Int) -> ClosedRange<Int> { -width - 2...width + 2 }

    @Test func `are shifted by any count as the standard library does`() {
        for count in Self.counts(64) {
            for value in [0, 1, -1, 0x5A5A_1234, .max, .min] {
                #expect([value << count, value >> count] == Self.expected(value, count), "\(value), \(count)")
            }
            for value: UInt64 in [0, 1, 0x5A5A_1234_8000_0001, .max] {
                #expect([value << count, value >> count] == Self.expected(value, count), "\(value), \(count)")
            }
        }
        for count in Self.counts(32) {
            for value: UInt32 in [0, 1, 0x8000_0001, .max] {
                #expect([value << count, value >> count] == Self.expected(value, count), "\(value), \(count)")
            }
            for value: UInt16 in [0, 1, 0x8001, .max] {
                #expect([value << count, value >> count] == Self.expected(value, count), "\(value), \(count)")
            }
            for value: UInt8 in .min ... .max {
                #expect([value << count, value >> count] == Self.expected(value, count), "\(value), \(count)")
            }
        }
        #expect([1 << Int.max, 1 >> Int.min, -1 >> Int.max] == [0, 0, -1])
    }

    @Test func `keep their value`() {
        for octet: UInt8 in .min ... .max {
            #expect(Int(octet) == Int(exactly: octet) && UInt8(Int(octet)) == octet)
            #expect(UInt16(octet) == UInt16(exactly: octet) && UInt8(UInt16(octet)) == octet)
            #expect(UInt32(octet) == UInt32(exactly: octet) && UInt8(UInt32(octet)) == octet)
            #expect(UInt64(octet) == UInt64(exactly: octet))
        }
        for word: UInt16 in [0, 0x7FFF, 0x8000, .max] {
            #expect(
                Int(word) == Int(exactly: word) && UInt16(Int(word)) == word && UInt32(word) == UInt32(exactly: word)
            )
        }
        for word: UInt32 in [0, 0x7FFF_FFFF, 0x8000_0000, .max] {
            #expect(Int(word) == Int(exactly: word) && UInt32(Int(word)) == word)
        }
    }

    @Test func `that do not fit end the process`() async {
        await #expect(processExitsWith: .failure) { _ = UInt8(Int("256") ?? 0) }
        await #expect(processExitsWith: .failure) { _ = UInt8(Int("-1") ?? 0) }
        await #expect(processExitsWith: .failure) { _ = UInt16(Int("65536") ?? 0) }
        await #expect(processExitsWith: .failure) { _ = UInt32(Int("-1") ?? 0) }
    }
}
