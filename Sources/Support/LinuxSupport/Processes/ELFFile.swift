// SPDX-License-Identifier: Apache-2.0

/// The header of a program or a library, with the properties that matter for loading it (System V gABI, chapters 4 and
/// 5).
///
/// Use it before a privileged program loads a file, to check which libraries the file needs and where they are
/// searched. Every offset is checked against the file before it is used.
package struct ELFFile: Sendable, Hashable {
    /// Whether the file can be loaded at any address: a library, or a position-independent program.
    package let isPositionIndependent: Bool
    /// Whether part of the file becomes read-only after loading (`PT_GNU_RELRO`).
    package private(set) var hasReadOnlyRelocations = false
    /// Whether all symbols are bound when the file is loaded (`DF_BIND_NOW`, `DF_1_NOW`), so that no table stays
    /// writable.
    package private(set) var bindsAtStart = false
    /// Whether its stack is executable.
    package private(set) var hasExecutableStack = true
    /// The names of the libraries that it needs.
    package private(set) var neededLibraries: [String] = []
    /// The folders in which these are searched first (`DT_RPATH`, `DT_RUNPATH`), separated by colons; nil when there
    /// are none.
    package private(set) var runPath: String?

    /// Why a file can't be read. Two failures with the same reason are equal.
    package struct Failure: Error, Hashable {
        /// The problem, as a sentence without the file's name.
        package var reason: String
    }

    /// Reads a header.
    ///
    /// - Parameter bytes: the whole file. Only 64-bit little-endian files are supported.
    /// - Throws: ``Failure``.
    package init(parsing bytes: [UInt8]) throws(Failure) {
        let file = Bytes(bytes)
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { throw Failure(reason: "It is no ELF file.") }
        guard bytes.count >= 64, bytes[4] == 2, bytes[5] == 1 else {
            throw Failure(reason: "It is no ELF file of 64 bits with the low byte first.")
        }
        // ET_DYN
        isPositionIndependent = try file.number(at: 16, 2) == 3
        let start = try file.offset(at: 32)
        let size = try file.offset(at: 54, 2)
        let count = try file.offset(at: 56, 2)
        guard size >= 56, count <= 1024 else { throw Failure(reason: "Its program headers are invalid.") }
        var segments: [Segment] = []
        for index in 0..<count { segments.append(try Segment(file, at: file.sum(start, index * size))) }
        for segment in segments {
            switch segment.kind {
            case Self.stackKind: hasExecutableStack = segment.flags & 1 != 0
            case Self.readOnlyKind: hasReadOnlyRelocations = true
            default: break
            }
        }
        // If there are several, the loader uses the last one.
        guard let dynamic = segments.last(where: { $0.kind == Self.dynamicKind }) else { return }
        try readDynamic(file, dynamic, segments.filter { $0.kind == Self.loadKind })
    }

    private static let loadKind: UInt64 = 1
    private static let dynamicKind: UInt64 = 2
    private static let stackKind: UInt64 = 0x6474_E551
    private static let readOnlyKind: UInt64 = 0x6474_E552

    private mutating func readDynamic(_ file: Bytes, _ dynamic: Segment, _ loads: [Segment]) throws(Failure) {
        var needed: [UInt64] = []
        var paths: [UInt64] = []
        var strings: UInt64?
        var size: UInt64 = 0
        for index in 0..<(dynamic.size / 16) {
            guard index < 4096 else { throw Failure(reason: "Its dynamic section is too long.") }
            let place = try file.sum(dynamic.offset, index * 16)
            let value = try file.number(at: place + 8, 8)
            switch try file.number(at: place, 8) {
            case 0: return try readStrings(file, strings, size, loads, needed, paths)
            case 1: needed.append(value)
            case 5: strings = value
            case 10: size = value
            case 15, 29: paths.append(value)
            case 24: bindsAtStart = true
            case 30: bindsAtStart = bindsAtStart || value & 8 != 0
            case 0x6FFF_FFFB: bindsAtStart = bindsAtStart || value & 1 != 0
            default: break
            }
        }
        throw Failure(reason: "Its dynamic section has no end.")
    }

    private mutating func readStrings(
        _ file: Bytes,
        _ address: UInt64?,
        _ size: UInt64,
        _ loads: [Segment],
        _ needed: [UInt64],
        _ paths: [UInt64]
    ) throws(Failure) {
        guard !needed.isEmpty || !paths.isEmpty else { return }
        guard let address,
            let load = loads.first(where: { address >= $0.address && address - $0.address < UInt64($0.size) })
        else { throw Failure(reason: "Its table of names is missing.") }
        let start = try file.sum(load.offset, Int(address - load.address))
        guard let count = Int(exactly: size), count <= file.count - start else {
            throw Failure(reason: "Its table of names is cut off.")
        }
        for place in needed { neededLibraries.append(try file.text(at: place, from: start, count)) }
        for place in paths {
            let path = try file.text(at: place, from: start, count)
            runPath = runPath.map { $0 + ":" + path } ?? path
        }
    }

    /// A part of the file that is loaded.
    private struct Segment {
        let kind: UInt64
        let flags: UInt64
        let offset: Int
        let address: UInt64
        let size: Int

        init(_ file: Bytes, at place: Int) throws(Failure) {
            kind = try file.number(at: place, 4)
            flags = try file.number(at: place + 4, 4)
            offset = try file.offset(at: place + 8)
            address = try file.number(at: place + 16, 8)
            guard let size = Int(exactly: try file.number(at: place + 32, 8)) else {
                throw Failure(reason: "A part of it is too large.")
            }
            self.size = size
        }
    }

    /// The file's bytes, with bounds checks for every access.
    private struct Bytes {
        private let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var count: Int { bytes.count }

        func number(at offset: Int, _ size: Int) throws(Failure) -> UInt64 {
            guard offset >= 0, offset <= bytes.count - size else { throw Failure(reason: "It is cut off.") }
            return bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// Reads a number that is an offset in the file.
        func offset(at place: Int, _ size: Int = 8) throws(Failure) -> Int {
            let value = try number(at: place, size)
            guard value <= UInt64(bytes.count) else { throw Failure(reason: "It is cut off.") }
            return Int(value)
        }

        /// Adds a distance to an offset. The result must be in the file.
        func sum(_ start: Int, _ distance: Int) throws(Failure) -> Int {
            let (sum, overflow) = start.addingReportingOverflow(distance)
            guard !overflow, sum >= 0, sum <= bytes.count else { throw Failure(reason: "It is cut off.") }
            return sum
        }

        /// Returns a name from a string table.
        func text(at place: UInt64, from start: Int, _ size: Int) throws(Failure) -> String {
            guard place < UInt64(size) else { throw Failure(reason: "A name lies outside of its table.") }
            let table = bytes[start..<start + size].dropFirst(Int(place))
            guard let end = table.firstIndex(of: 0) else { throw Failure(reason: "A name has no end.") }
            return String(decoding: table[..<end], as: UTF8.self)
        }
    }
}
