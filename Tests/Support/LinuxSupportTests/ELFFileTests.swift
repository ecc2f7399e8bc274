// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import Testing

/// The header of a program or library (System V ABI; `elf(5)`), read in its bounds.
struct ELFFileTests {
    private static func number(_ value: UInt64, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The place of the program headers, their size, and the place of the dynamic section.
    private static let (headers, headerSize, dynamic) = (64, 56, 64 + 4 * 56)

    /// A small library: a header, four program headers, a dynamic section and its names.
    private static func library(
        type: UInt8 = 3,
        needed: String = "libc.so.6",
        runPath: String? = nil
    ) -> [UInt8] {
        let strings = [0] + Array(needed.utf8) + [0] + Array((runPath ?? "").utf8) + [0]
        var entries: [(UInt64, UInt64)] = [(1, 1)]
        if runPath != nil { entries.append((29, UInt64(needed.utf8.count + 2))) }
        entries.append((0x6FFF_FFFB, 1))
        let stringsAt = UInt64(dynamic + (entries.count + 3) * 16)
        // Loaded 0x1000 above where it is in the file.
        entries += [(5, 0x1000 + stringsAt), (10, UInt64(strings.count)), (0, 0)]
        let section = entries.flatMap { number($0.0, 8) + number($0.1, 8) }
        func segment(_ kind: UInt64, _ flags: UInt64, _ offset: UInt64, _ size: Int) -> [UInt8] {
            number(kind, 4) + number(flags, 4) + number(offset, 8) + number(0x1000 + offset, 8) + number(0, 8)
                + number(UInt64(size), 8) + number(UInt64(size), 8) + number(8, 8)
        }
        let header =
            [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + number(0, 9) + [type, 0, 62, 0] + number(1, 4) + number(0, 8)
            + number(64, 8) + number(0, 12) + number(64, 2) + number(56, 2) + number(4, 2) + number(0, 6)
        return header + segment(1, 5, 0, Int(stringsAt) + strings.count)
            + segment(2, 6, UInt64(dynamic), section.count) + segment(0x6474_E551, 6, 0, 0)
            + segment(0x6474_E552, 4, UInt64(dynamic), section.count) + section + strings
    }

    /// Changes numbers in a file, the low byte first.
    private static func changed(_ bytes: [UInt8], _ changes: (offset: Int, size: Int, value: UInt64)...) -> [UInt8] {
        var bytes = bytes
        for (offset, size, value) in changes {
            bytes.replaceSubrange(offset..<offset + size, with: number(value, size))
        }
        return bytes
    }

    private static func isRefused(_ bytes: [UInt8]) -> Bool { (try? ELFFile(parsing: bytes)) == nil }

    @Test func `ELF library: its needed libraries and its search path are read`() throws {
        let plain = try ELFFile(parsing: Self.library())
        #expect(plain.neededLibraries == ["libc.so.6"] && plain.runPath == nil)
        let other = try ELFFile(parsing: Self.library(type: 2, needed: "libevil.so", runPath: "/tmp:$ORIGIN"))
        #expect(other.neededLibraries == ["libevil.so"] && other.runPath == "/tmp:$ORIGIN")
        let section = Self.headers + Self.headerSize
        let none = try ELFFile(parsing: Self.changed(Self.library(), (section, 4, 6)))
        #expect(none.neededLibraries.isEmpty && none.runPath == nil)
    }

    @Test func `ELF search path: that of DT_RPATH or DT_RUNPATH, or both joined by a colon`() throws {
        for tag: UInt64 in [15, 29] {
            let file = try ELFFile(
                parsing: Self.changed(Self.library(runPath: "/opt/lib"), (Self.dynamic + 16, 8, tag))
            )
            #expect(file.runPath == "/opt/lib")
        }
        let both = Self.changed(Self.library(needed: "/a", runPath: "/b"), (Self.dynamic, 8, 15))
        let file = try ELFFile(parsing: both)
        #expect(file.runPath == "/a:/b" && file.neededLibraries.isEmpty)
    }

    @Test func `ELF file cut at any byte: refused; changed at any byte: read in its bounds`() {
        let whole = Self.library(runPath: "/opt/lib")
        for count in 0..<whole.count { #expect(Self.isRefused(Array(whole[..<count])), "\(count)") }
        for index in whole.indices {
            for value: UInt8 in [0x00, 0xFF] {
                var changed = whole
                changed[index] = value
                _ = try? ELFFile(parsing: changed)
            }
        }
    }

    @Test func `ELF offsets and sizes: the last value that fits into the file is taken, one beyond is refused`() {
        let whole = Self.library(runPath: "/opt/lib")
        let (first, section, dynamic) = (Self.headers, Self.headers + Self.headerSize, Self.dynamic)
        let (end, size) = (UInt64(whole.count), dynamic + 4 * 16 + 8)
        // The table of names: empty name, libc.so.6, /opt/lib, with their zeros.
        let length: UInt64 = 1 + 9 + 1 + 8 + 1
        let rows: [(Int, Int, UInt64, Bool)] = [
            (4, 1, 1, true), (5, 1, 2, true), (0, 1, 0x23, true), (54, 2, 55, true), (54, 2, 0, true),
            (56, 2, 1025, true), (32, 8, end + 1, true), (32, 8, .max, true), (32, 8, end, true),
            (section + 32, 8, .max, true), (section + 32, 8, 16, true), (section + 8, 8, end + 1, true),
            (section + 8, 8, 0, true), (first + 16, 8, 0x9000, true), (first + 32, 8, 8, true),
            (dynamic + 8, 8, 4096, true), (dynamic + 8, 8, length, true), (dynamic + 8, 8, length - 1, false),
            (size, 8, end, true), (size, 8, .max, true), (size, 8, 5, true), (size, 8, length, false),
            (whole.count - 1, 1, 0x61, true),
        ]
        for (offset, size, value, isRefused) in rows {
            #expect(Self.isRefused(Self.changed(whole, (offset, size, value))) == isRefused, "\(offset) \(value)")
        }
        // The table of names lies in what is loaded, from its first byte to its last.
        let table = end - length
        for (address, size, offset, isRefused) in [
            (table, 1, table, false), (table - 1, 2, table - 1, false), (table - 1, 1, table - 1, true),
            (table + 1, 9, table, true), (table, 1, table + 1, true),
        ] as [(UInt64, UInt64, UInt64, Bool)] {
            let bytes = Self.changed(
                whole,
                (first + 16, 8, 0x1000 + address),
                (first + 32, 8, size),
                (first + 8, 8, offset)
            )
            #expect(Self.isRefused(bytes) == isRefused, "\(address) \(size) \(offset)")
        }
        #expect(!Self.isRefused(Self.changed(Array(whole[..<64]), (56, 2, 0))))
    }
}
