// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary
import Testing

@Suite struct `The header of a program` {
    /// A small library: a header, four program headers, a dynamic section and its names.
    private static func library(
        type: UInt8 = 3,
        needed: String = "libc.so.6",
        runPath: String? = nil,
        bindsNow: Bool = true
    ) -> [UInt8] {
        func number(_ value: UInt64, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let strings = [0] + Array(needed.utf8) + [0] + Array((runPath ?? "").utf8) + [0]
        let headersEnd = UInt64(64 + 4 * 56)
        var entries: [(UInt64, UInt64)] = [(1, 1)]
        if runPath != nil { entries.append((29, UInt64(needed.utf8.count + 2))) }
        if bindsNow { entries.append((0x6FFF_FFFB, 1)) }
        let stringsAt = headersEnd + UInt64((entries.count + 3) * 16)
        // Loaded 0x1000 above where it is in the file.
        entries += [(5, 0x1000 + stringsAt), (10, UInt64(strings.count)), (0, 0)]
        let dynamic = entries.flatMap { number($0.0, 8) + number($0.1, 8) }
        func segment(_ kind: UInt64, _ flags: UInt64, _ offset: UInt64, _ size: Int) -> [UInt8] {
            number(kind, 4) + number(flags, 4) + number(offset, 8) + number(0x1000 + offset, 8) + number(0, 8)
                + number(UInt64(size), 8) + number(UInt64(size), 8) + number(8, 8)
        }
        let whole = Int(stringsAt) + strings.count
        let header =
            [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9) + [type, 0, 62, 0]
            + number(1, 4) + number(0, 8) + number(64, 8) + number(0, 8) + number(0, 4) + number(64, 2)
            + number(56, 2) + number(4, 2) + number(0, 6)
        return header + segment(1, 5, 0, whole) + segment(2, 6, headersEnd, dynamic.count)
            + segment(0x6474_E551, 6, 0, 0) + segment(0x6474_E552, 4, headersEnd, dynamic.count) + dynamic + strings
    }

    @Test func `What is needed and where it is looked for is read`() throws {
        let plain = try ELFFile(parsing: Self.library())
        #expect(plain.neededLibraries == ["libc.so.6"])
        #expect(plain.runPath == nil)
        #expect(plain.isPositionIndependent && plain.hasReadOnlyRelocations && plain.bindsAtStart)
        #expect(!plain.hasExecutableStack)
        let other = try ELFFile(
            parsing: Self.library(type: 2, needed: "libevil.so", runPath: "/tmp:$ORIGIN", bindsNow: false)
        )
        #expect(other.neededLibraries == ["libevil.so"])
        #expect(other.runPath == "/tmp:$ORIGIN")
        #expect(!other.isPositionIndependent && !other.bindsAtStart)
    }

    @Test func `A file that is cut off or changed at any byte is read in its bounds`() {
        let whole = Self.library(runPath: "/opt/lib")
        for count in 0..<whole.count {
            #expect(throws: ELFFile.Failure.self) { try ELFFile(parsing: Array(whole[..<count])) }
        }
        for index in whole.indices {
            for value: UInt8 in [0x00, 0x7F, 0x80, 0xFF] where value != whole[index] {
                var changed = whole
                changed[index] = value
                // It is refused or read; neither ends the process.
                _ = try? ELFFile(parsing: changed)
            }
        }
    }

    @Test func `What is no ELF file of 64 bits is refused`() {
        let failure = #expect(throws: ELFFile.Failure.self) { try ELFFile(parsing: Array("#!/bin/sh\n".utf8)) }
        #expect(failure?.reason == "It is no ELF file.")
        var other = Self.library()
        other[4] = 1
        #expect(throws: ELFFile.Failure.self) { try ELFFile(parsing: other) }
    }
}
