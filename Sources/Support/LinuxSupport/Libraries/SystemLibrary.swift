// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A shared library of the system. It is opened when it is first needed, so a program also runs without it.
///
/// It stays open until the process ends, so its functions stay valid.
@safe package struct SystemLibrary: @unchecked Sendable {
    // Sendable because a handle from `dlopen` may be used from any thread.
    private let handle: UnsafeMutableRawPointer

    /// Opens the first library that is installed, by file names with versions, such as `libcrypto.so.3`.
    package init?(_ names: String...) {
        for name in names {
            if let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) {
                unsafe self.handle = handle
                return
            }
        }
        return nil
    }

    /// Returns a function of the library by its name in C; nil when the library does not have it. The caller must make sure
    /// that the type, `@convention(c)`, is the right one.
    @unsafe package func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
        guard let symbol = unsafe dlsym(handle, name) else { return nil }
        return unsafe unsafeBitCast(symbol, to: Function.self)
    }
}

/// The libraries that a program or a library needs (System V gABI, chapters 4 and 5).
///
/// Use it before a privileged program loads a file. Every offset is checked against the file before it is used.
package struct ELFFile: Sendable, Hashable {
    /// The names of the libraries that it needs.
    package private(set) var neededLibraries: [String] = []
    /// The folders in which these are searched first (`DT_RPATH`, `DT_RUNPATH`), separated by colons; nil when there
    /// are none.
    package private(set) var runPath: String?

    /// Why a file can't be read, as a sentence without the file's name.
    package struct Failure: Error, Hashable { package var reason: String }

    /// Reads a whole 64-bit little-endian file.
    package init(parsing bytes: [UInt8]) throws(Failure) {
        let file = Bytes(bytes: bytes)
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { throw Failure(reason: "It is not an ELF file.") }
        guard bytes.count >= 64, bytes[4] == 2, bytes[5] == 1 else {
            throw Failure(reason: "It is not a 64-bit little-endian ELF file.")
        }
        let start = try file.offset(at: 32)
        let (size, count) = (try file.offset(at: 54, 2), try file.offset(at: 56, 2))
        guard size >= 56, count <= 1024 else { throw Failure(reason: "Its program headers are invalid.") }
        var segments: [Segment] = []
        for index in 0..<count { segments.append(try Segment(file, at: file.sum(start, index * size))) }
        // PT_DYNAMIC. If there are several, the loader uses the last one.
        guard let dynamic = segments.last(where: { $0.kind == 2 }) else { return }
        // PT_LOAD
        try readDynamic(file, dynamic, segments.filter { $0.kind == 1 })
    }

    private mutating func readDynamic(_ file: Bytes, _ dynamic: Segment, _ loads: [Segment]) throws(Failure) {
        var needed: [UInt64] = []
        var paths: [UInt64] = []
        var (strings, size): (UInt64?, UInt64) = (nil, 0)
        var index = 0
        reading: while true {
            guard index < min(dynamic.size / 16, 4096) else { throw Failure(reason: "Its dynamic section has no end.") }
            let entry = try file.sum(dynamic.offset, index * 16)
            let value = try file.number(at: entry + 8, 8)
            switch try file.number(at: entry, 8) {
            case 0: break reading
            case 1: needed.append(value)
            case 5: strings = value
            case 10: size = value
            case 15, 29: paths.append(value)
            default: break
            }
            index += 1
        }
        guard !needed.isEmpty || !paths.isEmpty else { return }
        guard let strings,
            let load = loads.first(where: { strings >= $0.address && strings - $0.address < UInt64($0.size) })
        else { throw Failure(reason: "Its table of names is missing.") }
        let start = try file.sum(load.offset, Int(strings - load.address))
        guard let count = Int(exactly: size), count <= file.bytes.count - start else {
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
        let offset: Int
        let address: UInt64
        let size: Int

        init(_ file: Bytes, at place: Int) throws(Failure) {
            kind = try file.number(at: place, 4)
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
        let bytes: [UInt8]

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
