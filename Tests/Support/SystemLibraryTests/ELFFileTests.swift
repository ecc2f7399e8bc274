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

    /// Changes a number in a file, the low byte first.
    private static func changed(_ bytes: [UInt8], at offset: Int, _ size: Int, to value: UInt64) -> [UInt8] {
        var bytes = bytes
        for index in 0..<size { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
        return bytes
    }

    private static func reason(_ bytes: [UInt8]) -> String? {
        do throws(ELFFile.Failure) {
            _ = try ELFFile(parsing: bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `Numbers that lie are refused with what is wrong`() {
        let whole = Self.library(runPath: "/opt/lib")
        // Program headers: their place, size and count; each has 56 bytes.
        for (offset, size, value, reason): (Int, Int, UInt64, String) in [
            (54, 2, 55, "Its program headers are invalid."), (54, 2, 0, "Its program headers are invalid."),
            (56, 2, 1025, "It is cut off."), (32, 8, UInt64(whole.count) + 1, "It is cut off."),
            (32, 8, .max, "It is cut off."), (32, 8, UInt64(whole.count), "It is cut off."),
            (64 + 56 + 32, 8, .max, "A part of it is too large."),
            (64 + 56 + 32, 8, 16, "Its dynamic section has no end."),
            (64 + 56 + 8, 8, UInt64(whole.count) + 1, "It is cut off."),
            // A dynamic section that begins with the file's first byte.
            (64 + 56 + 8, 8, 0, "Its dynamic section has no end."),
            (64 + 16, 8, 0x9000, "Its table of names is missing."),
            (64 + 32, 8, 8, "Its table of names is missing."),
        ] {
            #expect(Self.reason(Self.changed(whole, at: offset, size, to: value)) == reason, "\(offset) \(value)")
        }
        let dynamic = 64 + 4 * 56
        // The name's place, and the table's size: in the dynamic section's first and last but one entries.
        #expect(Self.reason(Self.changed(whole, at: dynamic + 8, 8, to: 4096)) == "A name lies outside of its table.")
        let size = dynamic + 4 * 16 + 8
        // The name behind the last byte of the table, and the last byte, which is an empty name.
        let length = 1 + 9 + 1 + 8 + 1
        #expect(
            Self.reason(Self.changed(whole, at: dynamic + 8, 8, to: UInt64(length)))
                == "A name lies outside of its table."
        )
        #expect(Self.reason(Self.changed(whole, at: dynamic + 8, 8, to: UInt64(length - 1))) == nil)
        #expect(
            Self.reason(Self.changed(whole, at: size, 8, to: UInt64(whole.count))) == "Its table of names is cut off."
        )
        #expect(Self.reason(Self.changed(whole, at: size, 8, to: .max)) == "Its table of names is cut off.")
        #expect(Self.reason(Self.changed(whole, at: size, 8, to: 5)) != nil)
        var unended = whole
        unended[whole.count - 1] = 0x61
        #expect(Self.reason(unended) == "A name has no end.")
        #expect(Self.reason(whole) == nil)
    }

    @Test func `A program without a dynamic section needs nothing, and its stack may be executable`() throws {
        let whole = Self.library()
        let noDynamic = try ELFFile(parsing: Self.changed(whole, at: 64 + 56, 4, to: 6))
        #expect(noDynamic.neededLibraries.isEmpty && !noDynamic.bindsAtStart && noDynamic.runPath == nil)
        let noStack = try ELFFile(parsing: Self.changed(whole, at: 64 + 2 * 56, 4, to: 6))
        #expect(noStack.hasExecutableStack)
        let executable = try ELFFile(parsing: Self.changed(whole, at: 64 + 2 * 56 + 4, 4, to: 7))
        #expect(executable.hasExecutableStack)
        let writable = try ELFFile(parsing: Self.changed(whole, at: 64 + 3 * 56, 4, to: 6))
        #expect(!writable.hasReadOnlyRelocations)
    }

    @Test(
        arguments: [(24, 0, true), (30, 8, true), (30, 7, false), (0x6FFF_FFFB, 1, true), (0x6FFF_FFFB, 2, false)]
            as [(UInt64, UInt64, Bool)]
    )
    func `Names are bound at the start by one of three marks`(tag: UInt64, value: UInt64, binds: Bool) throws {
        // The entry after the needed library.
        let entry = 64 + 4 * 56 + 16
        let whole = Self.changed(Self.changed(Self.library(), at: entry, 8, to: tag), at: entry + 8, 8, to: value)
        #expect(try ELFFile(parsing: whole).bindsAtStart == binds)
    }

    @Test func `Both kinds of run path are looked in, one behind the other`() throws {
        let entry = 64 + 4 * 56 + 16
        for tag: UInt64 in [15, 29] {
            let whole = Self.changed(Self.library(runPath: "/opt/lib"), at: entry, 8, to: tag)
            #expect(try ELFFile(parsing: whole).runPath == "/opt/lib")
        }
        // The needed library's entry made one of a path.
        let both = Self.changed(Self.library(needed: "/a", runPath: "/b"), at: 64 + 4 * 56, 8, to: 15)
        let file = try ELFFile(parsing: both)
        #expect(file.runPath == "/a:/b" && file.neededLibraries.isEmpty)
    }

    /// A program with other program headers and with entries in the dynamic section behind them.
    private static func program(headers: Int, size: Int = 56, entries: [(UInt64, UInt64)], behind: Int = 0) -> [UInt8] {
        func number(_ value: UInt64, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let dynamic = entries.flatMap { number($0.0, 8) + number($0.1, 8) }
        let start = UInt64(64 + headers * size)
        var file = changed(Array(library()[..<64]), at: 54, 2, to: UInt64(size))
        file = changed(file, at: 56, 2, to: UInt64(headers))
        // Segments of no kind, and the dynamic section in the last one.
        file += [UInt8](repeating: 0, count: (headers - 1) * size)
        file += number(2, 4) + number(6, 4) + number(start, 8) + number(start, 8) + number(0, 8)
        file += number(UInt64(dynamic.count), 8) + [UInt8](repeating: 0, count: size - 40)
        return file + dynamic + [UInt8](repeating: 0, count: behind)
    }

    @Test func `Of two dynamic sections the last one counts, as for the loader`() throws {
        // The first one has no end. The header of what becomes read-only has the whole section too.
        let cut = Self.changed(Self.library(), at: 64 + 56 + 32, 8, to: 16)
        let file = try ELFFile(parsing: Self.changed(cut, at: 64 + 3 * 56, 4, to: 2))
        #expect(file.neededLibraries == ["libc.so.6"])
    }

    @Test func `A program may have as many headers as any has, and larger ones`() {
        #expect(Self.reason(Self.program(headers: 1024, entries: [(0, 0)])) == nil)
        #expect(
            Self.reason(Self.program(headers: 1025, entries: [(0, 0)])) == "Its program headers are invalid."
        )
        #expect(Self.reason(Self.program(headers: 3, size: 64, entries: [(24, 0), (0, 0)])) == nil)
        let wide = try? ELFFile(parsing: Self.program(headers: 3, size: 64, entries: [(24, 0), (0, 0)]))
        #expect(wide?.bindsAtStart == true && wide?.hasExecutableStack == true)
        // The low byte of this size is that of the usual one.
        let wider = try? ELFFile(parsing: Self.program(headers: 3, size: 256 + 56, entries: [(24, 0), (0, 0)]))
        #expect(wider?.bindsAtStart == true)
    }

    @Test func `One mark binds names at the start, whatever the others say after it`() throws {
        for marks: [(UInt64, UInt64)] in [
            [(24, 0), (30, 0)], [(24, 0), (0x6FFF_FFFB, 0)], [(30, 8), (0x6FFF_FFFB, 0)], [(0x6FFF_FFFB, 1), (30, 0)],
        ] {
            let file = try ELFFile(parsing: Self.program(headers: 1, entries: marks + [(0, 0)]))
            #expect(file.bindsAtStart, "\(marks)")
        }
    }

    @Test func `The dynamic section has an end, and a length that is bounded`() {
        let entry: (UInt64, UInt64) = (99, 0)
        func section(_ count: Int) -> [UInt8] {
            Self.program(headers: 1, entries: [(UInt64, UInt64)](repeating: entry, count: count) + [(0, 0)])
        }
        // With the end, it may have 4096 entries.
        #expect(Self.reason(section(4095)) == nil)
        #expect(Self.reason(section(4096)) == "Its dynamic section is too long.")
        #expect(
            Self.reason(Self.program(headers: 1, entries: [entry], behind: 16)) == "Its dynamic section has no end."
        )
        // What needs no name needs no table of names.
        #expect(Self.reason(Self.program(headers: 1, entries: [(24, 0), (0, 0)])) == nil)
        for tag: UInt64 in [1, 15, 29] {
            #expect(
                Self.reason(Self.program(headers: 1, entries: [(tag, 0), (0, 0)])) == "Its table of names is missing."
            )
        }
    }

    @Test func `The table of names lies in what is loaded, from its first byte to its last`() {
        let whole = Self.library(runPath: "/opt/lib")
        // The loaded segment's address and size, and the address of the table in the last but two entry.
        let table = whole.count - (1 + 9 + 1 + 8 + 1)
        func reason(address: Int, size: Int, offset: Int) -> String? {
            var bytes = Self.changed(whole, at: 64 + 16, 8, to: UInt64(address))
            bytes = Self.changed(bytes, at: 64 + 32, 8, to: UInt64(size))
            return Self.reason(Self.changed(bytes, at: 64 + 8, 8, to: UInt64(offset)))
        }
        #expect(reason(address: 0x1000 + table, size: 1, offset: table) == nil)
        #expect(reason(address: 0x1000 + table - 1, size: 2, offset: table - 1) == nil)
        #expect(reason(address: 0x1000 + table - 1, size: 1, offset: table - 1) == "Its table of names is missing.")
        #expect(reason(address: 0x1000 + table + 1, size: 9, offset: table) == "Its table of names is missing.")
        // A table that ends where the file ends, and one that ends behind it.
        #expect(reason(address: 0x1000 + table, size: 1, offset: table + 1) == "Its table of names is cut off.")
        #expect(reason(address: 0x1000 + table, size: 1, offset: whole.count) == "Its table of names is cut off.")
    }

    @Test func `Bytes with the high one first, and a header that is not whole, are refused`() {
        var other = Self.library()
        other[5] = 2
        #expect(Self.reason(other) == "It is no ELF file of 64 bits with the low byte first.")
        #expect(Self.reason(Array(Self.library()[..<63])) == "It is no ELF file of 64 bits with the low byte first.")
        #expect(Self.reason(Array(Self.library()[..<3])) == "It is no ELF file.")
        // With no program headers, 64 bytes are a program.
        let bare = Self.changed(Array(Self.library()[..<64]), at: 56, 2, to: 0)
        #expect(Self.reason(bare) == nil)
    }

    @Test func `Of two loaded parts that have the table of names the first one counts`() {
        // The header of what becomes read-only is one of another loaded part, in which the table is elsewhere in the file.
        var whole = Self.changed(Self.library(), at: 64 + 3 * 56, 4, to: 1)
        whole = Self.changed(whole, at: 64 + 3 * 56 + 8, 8, to: 0)
        whole = Self.changed(whole, at: 64 + 3 * 56 + 16, 8, to: 0x1001)
        whole = Self.changed(whole, at: 64 + 3 * 56 + 32, 8, to: UInt64(whole.count))
        #expect((try? ELFFile(parsing: whole))?.neededLibraries == ["libc.so.6"])
    }
}
