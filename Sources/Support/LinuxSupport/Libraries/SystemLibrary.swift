// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A shared library of the system, opened when it is first needed. So a program also runs without the library.
///
/// The library stays open until the process ends, so its functions stay valid.
@safe package struct SystemLibrary: @unchecked Sendable {
    // Sendable because a handle from `dlopen` may be used from any thread.
    private let handle: UnsafeMutableRawPointer

    /// Opens the first library that is installed. Each name is a file name with a version, such as `libcrypto.so.3`.
    package init?(_ names: String...) {
        for name in names {
            if let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) {
                unsafe self.handle = handle
                return
            }
        }
        return nil
    }

    /// Returns a function of the library by its C name; nil when the library lacks it. The caller must make sure that
    /// the type, `@convention(c)`, is correct.
    @unsafe package func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
        guard let symbol = unsafe dlsym(handle, name) else { return nil }
        return unsafe unsafeBitCast(symbol, to: Function.self)
    }
}

/// Reads which libraries a program or a library needs (System V gABI, chapters 4 and 5).
///
/// Use this before a privileged program loads a file. Every offset is checked against the size of the file.
package struct ELFFile: Sendable, Hashable {
    package private(set) var neededLibraries: [String] = []
    /// The folders in which the libraries are searched first (`DT_RPATH`, `DT_RUNPATH`), separated by colons; nil when
    /// there are none.
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
        let (size, count) = (try file.number(at: 54, 2), try file.number(at: 56, 2))
        guard size >= 56, count <= 1024 else { throw Failure(reason: "Its program headers are invalid.") }
        var loaded: [(address: Int, offset: Int, size: Int)] = []
        var dynamic: (offset: Int, size: Int)?
        for header in (0..<count).map({ start + $0 * size }) {
            let kind = try file.number(at: header, 4)
            let (offset, address) = (try file.offset(at: header + 8), try file.number(at: header + 16))
            switch kind {
            // PT_LOAD
            case 1: loaded.append((address, offset, try file.offset(at: header + 32)))
            // PT_DYNAMIC. If there are several, the loader uses the last one.
            case 2: dynamic = (offset, try file.offset(at: header + 32))
            default: break
            }
        }
        if let dynamic { try read(file, dynamic.offset, dynamic.size, loaded) }
    }

    /// Reads the dynamic section, and the names in the table that the section refers to.
    private mutating func read(
        _ file: Bytes,
        _ section: Int,
        _ size: Int,
        _ loaded: [(address: Int, offset: Int, size: Int)]
    ) throws(Failure) {
        var (needed, paths): ([Int], [Int]) = ([], [])
        var table: (address: Int?, size: Int) = (nil, 0)
        var index = 0
        reading: while true {
            guard index < min(size / 16, 4096) else { throw Failure(reason: "Its dynamic section has no end.") }
            let entry = section + index * 16
            let (tag, value) = (try file.number(at: entry), try file.number(at: entry + 8))
            switch tag {
            case 0: break reading
            case 1: needed.append(value)
            case 5: table.address = value
            case 10: table.size = value
            case 15, 29: paths.append(value)
            default: break
            }
            index += 1
        }
        guard !needed.isEmpty || !paths.isEmpty else { return }
        guard let address = table.address,
            let load = loaded.first(where: { address >= $0.address && address - $0.address < $0.size })
        else { throw Failure(reason: "Its table of names is missing.") }
        let start = load.offset + (address - load.address)
        guard table.size <= file.bytes.count - start else { throw Failure(reason: "Its table of names is cut off.") }
        let names = file.bytes[start..<start + table.size]
        for offset in needed { neededLibraries.append(try Self.name(at: offset, in: names)) }
        for offset in paths {
            let path = try Self.name(at: offset, in: names)
            runPath = runPath.map { $0 + ":" + path } ?? path
        }
    }

    private static func name(at offset: Int, in table: ArraySlice<UInt8>) throws(Failure) -> String {
        guard offset < table.count else { throw Failure(reason: "A name lies outside of its table.") }
        let name = table.dropFirst(offset)
        guard let end = name.firstIndex(of: 0) else { throw Failure(reason: "A name has no end.") }
        return String(decoding: name[..<end], as: UTF8.self)
    }

    /// The file's bytes, with bounds checks for every access.
    private struct Bytes {
        let bytes: [UInt8]

        func number(at offset: Int, _ size: Int = 8) throws(Failure) -> Int {
            guard offset <= bytes.count - size else { throw Failure(reason: "It is cut off.") }
            let value = bytes[offset..<offset + size].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            guard let number = Int(exactly: value) else { throw Failure(reason: "A number in it is too large.") }
            return number
        }

        /// Reads an offset or a size, which is at most the size of the file.
        func offset(at position: Int) throws(Failure) -> Int {
            let value = try number(at: position)
            guard value <= bytes.count else { throw Failure(reason: "It is cut off.") }
            return value
        }
    }
}
