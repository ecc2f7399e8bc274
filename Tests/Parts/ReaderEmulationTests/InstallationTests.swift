// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PrivateStorage
import TestThreads
import Testing

@testable import ReaderEmulation

/// The driver that pcscd loads as root, and the reader that root installs for a user.
@Suite struct `A reader that root installs` {
    /// A folder of a test's own, which is removed with all that is in it.
    private final class Place {
        let path: String

        init() throws { path = try PrivateFolder.random("ocn-install").path }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ name: String, _ bytes: [UInt8], padding: Int = 0) throws -> String {
            try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
            if padding > 0 { #expect(unsafe truncate("\(path)/\(name)", bytes.count + padding) == 0) }
            return "\(path)/\(name)"
        }

        func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
    }

    /// A library that needs others, and may have a path on which they are searched.
    private static func library(needing names: [String] = ["libc.so.6"], runPath: String? = nil) -> [UInt8] {
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var strings: [UInt8] = [0]
        func place(of text: String) -> Int {
            defer { strings += text.utf8 + [0] }
            return strings.count
        }
        var entries = names.map { (1, place(of: $0)) }
        if let runPath { entries.append((29, place(of: runPath))) }
        let dynamic = 64 + 2 * 56
        let end = dynamic + 16 * (entries.count + 3)
        entries += [(5, end), (10, strings.count), (0, 0)]
        let head = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9) + number(3, 2)
        let header = head + [UInt8](repeating: 0, count: 14) + number(64, 8)
        let rest = [UInt8](repeating: 0, count: 14) + number(56, 2) + number(2, 2) + [UInt8](repeating: 0, count: 6)
        func segment(_ kind: Int, _ start: Int, _ size: Int) -> [UInt8] {
            number(kind, 4) + number(4, 4) + number(start, 8) + number(start, 8) + number(start, 8)
                + number(size, 8) + number(size, 8) + number(8, 8)
        }
        return header + rest + segment(1, 0, end + strings.count) + segment(2, dynamic, end - dynamic)
            + entries.flatMap { number($0.0, 8) + number($0.1, 8) } + strings
    }

    private func problem(_ work: () throws(EmulationError) -> Void) -> String? {
        do throws(EmulationError) {
            try work()
            return nil
        } catch { return error.reason }
    }

    // MARK: The driver

    @Test(
        arguments: [
            (["libc.so.6"], nil, nil), ([], nil, nil),
            (["libpthread.so.0", "ld-linux-x86-64.so.2", "libc.so.6"], nil, nil),
            (["libc.so.6", "libswiftCore.so"], nil, "needs libswiftCore.so, which pcscd must not load."),
            (["libc.so.60"], nil, "needs libc.so.60,"), (["libpthread.so.1"], nil, "needs libpthread.so.1,"),
            (["xld-linux.so"], nil, "needs xld-linux.so,"), (["liba.so", "libb.so"], nil, "needs liba.so,"),
            (["libc.so.6"], "/somewhere/lib", "makes pcscd look for libraries in /somewhere/lib,"),
        ] as [([String], String?, String?)]
    )
    func `needs a driver with no library but the C library`(names: [String], runPath: String?, problem: String?) {
        let bytes = Self.library(needing: names, runPath: runPath)
        let found = self.problem { () throws(EmulationError) in
            #expect(try PlainDriver(bytes, path: "/a/driver.so").bytes == bytes)
        }
        #expect((found == nil) == (problem == nil), "\(found ?? "")")
        if let problem {
            #expect(found?.hasPrefix("/a/driver.so " + problem) == true, "\(found ?? "")")
            #expect(found?.contains("dev/build-pcsc-driver") == true)
        }
    }

    @Test func `needs a driver that is a library`() {
        for bytes in [[], Array("no driver".utf8), Array(Self.library().dropLast())] {
            let found = problem { () throws(EmulationError) in _ = try PlainDriver(bytes, path: "/a/driver.so") }
            #expect(found?.hasPrefix("/a/driver.so is no driver: It ") == true || found?.contains("cut off") == true)
        }
    }

    @Test func `takes a driver of 16 MiB at most from a file`() throws {
        let place = try Place()
        let bytes = Self.library()
        func driver(_ path: String) throws(EmulationError) -> [UInt8] {
            try PlainDriver(path: path, builder: nil, checksPath: false).bytes
        }
        #expect(try driver(place.write("small.so", bytes)) == bytes)
        #expect(try driver(place.write("large.so", bytes, padding: 16 << 20 - bytes.count)).count == 16 << 20)
        let larger = try place.write("larger.so", bytes, padding: 16 << 20 - bytes.count + 1)
        #expect(problem { () throws(EmulationError) in _ = try driver(larger) }?.contains("larger.so") == true)
        let missing = problem { () throws(EmulationError) in _ = try driver(place.path + "/none.so") }
        #expect(missing?.contains("none.so") == true)
    }

    @Test func `takes a driver only from where nobody but root and its builder can write`() throws {
        let place = try Place()
        let path = try place.write("driver.so", Self.library())
        #expect(unsafe chmod(path, 0o644) == 0)
        func found() -> String? {
            problem { () throws(EmulationError) in
                _ = try PlainDriver(path: path, builder: geteuid(), checksPath: true)
            }
        }
        #expect(found() == nil)
        #expect(unsafe chmod(path, 0o664) == 0)
        #expect(found()?.hasPrefix("\(path) can be changed by others than root") == true)
        #expect(unsafe chmod(path, 0o644) == 0 && chmod(place.path, 0o770) == 0)
        #expect(found()?.hasPrefix("\(place.path) can be changed by others than root") == true)
        #expect(
            problem { () throws(EmulationError) in
                _ = try PlainDriver(path: path, builder: nil, checksPath: false)
            } == nil
        )
    }

    // MARK: The reader

    @Test func `is there until it is removed, and the driver until the last one is`() throws {
        let place = try Place()
        let driver = try PlainDriver(Self.library(), path: "driver.so")
        // Slashes at the end of the root are left out.
        let one = SystemReader(try ReaderOwner("4242424"), root: place.path + "//")
        let other = SystemReader(try #require(ReaderOwner.current), root: place.path)
        #expect(one.root == place.path && one.owner.name == "4242424" && one.socketPath != other.socketPath)
        #expect(one.installedName == nil)
        #expect(try one.uninstall() == [])
        let files = [one.installedDriverPath, one.temporaryPath, one.configurationPath]
        #expect(try one.install(driver, readerName: "My Reader") == files)
        #expect(files.allSatisfy { $0.hasPrefix(place.path + "/") && place.has($0) })
        #expect(FileManager.default.contents(atPath: one.installedDriverPath).map(Array.init) == driver.bytes)
        #expect(one.installedName == "My Reader" && other.installedName == nil)
        // Once more is once, with the new name.
        #expect(try one.install(driver, readerName: "Your Reader") == files)
        #expect(try other.install(driver, readerName: "Third") != files)
        #expect(one.installedName == "Your Reader" && other.installedName == "Third")
        #expect(try one.uninstall() == [one.configurationPath, one.temporaryPath])
        #expect(one.installedName == nil && other.installedName == "Third" && place.has(one.installedDriverPath))
        #expect(try other.uninstall() == [other.configurationPath, other.temporaryPath, other.installedDriverPath])
        #expect(!place.has(one.installedDriverPath))
        #expect(try other.uninstall() == [])
    }

    /// In a process of its own, which gives up the rights of root.
    @Test(.ownThreads) func `is installed in the system and removed from it by root alone`() async {
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { #expect(seteuid(65534) == 0) }
            let reader = SystemReader(try ReaderOwner("4242424"))
            let removal = #expect(throws: EmulationError.self) { try reader.uninstall() }
            #expect(
                removal?.reason == "Only root can remove a reader: sudo nfc emulate uninstall --for 4242424"
            )
            let driver = try PlainDriver(Self.library(), path: "driver.so")
            let installation = #expect(throws: EmulationError.self) {
                try reader.install(driver, readerName: "My Reader")
            }
            #expect(
                installation?.reason == "Only root can install a reader: sudo nfc emulate install --for 4242424"
            )
            // The process ends as whom it began.
            if getuid() == 0 { #expect(seteuid(0) == 0) }
        }
    }

    /// The owner, the group and the mode of a file.
    private static func access(to path: String) -> [UInt32] {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return [] }
        return [status.st_uid, status.st_gid, status.st_mode & 0o7777]
    }

    /// In a process of its own, whose file system is the folder of a test.
    @Test(.ownThreads, .enabled(if: geteuid() == 0, "needs root"))
    func `has a folder of its user's for its socket, where root alone can change what leads to it`() async throws {
        let place = try Place()
        await #expect(processExitsWith: .success) { [path = place.path as String] in
            let before = unsafe open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            // In some containers this is not allowed.
            guard unsafe chroot(path) == 0, unsafe chdir("/") == 0 else { return }
            let driver = try PlainDriver(Self.library(), path: "driver.so")
            let reader = SystemReader(try ReaderOwner("4242424"))
            let (folder, socket) = ("/run/opencorenfc", "/run/opencorenfc/4242424")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for part in [folder, "/run"] {
                #expect(unsafe chmod(part, 0o777) == 0)
                let refusal = #expect(throws: EmulationError.self) {
                    try reader.install(driver, readerName: "My Reader")
                }
                #expect(refusal?.reason.hasPrefix("\(part) can be changed by others than root.") == true)
                #expect(unsafe chmod(part, 0o755) == 0)
            }
            #expect(unsafe chmod(folder, 0o700) == 0)
            let files = [reader.installedDriverPath, reader.temporaryPath, socket, reader.configurationPath]
            #expect(try reader.install(driver, readerName: "My Reader") == files)
            #expect(Self.access(to: folder) == [0, 0, 0o755])
            #expect(Self.access(to: socket) == [4_242_424, 4_242_424, 0o700])
            // What a reader that was killed has left goes with its folder.
            #expect(FileManager.default.createFile(atPath: reader.socketPath, contents: nil))
            let removed = [reader.configurationPath, reader.temporaryPath, socket, reader.installedDriverPath]
            #expect(try reader.uninstall() == removed)
            #expect(removed.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
            #expect(try reader.uninstall() == [])
            // The process ends where it began.
            #expect(unsafe fchdir(before) == 0 && chroot(".") == 0)
            close(before)
        }
    }

    @Test func `has a configuration of 64 KiB at most`() throws {
        let place = try Place()
        let reader = SystemReader(try ReaderOwner("4242424"), root: place.path)
        _ = try reader.install(try PlainDriver(Self.library(), path: "driver.so"), readerName: "My Reader")
        let lines = try String(contentsOfFile: reader.configurationPath, encoding: .utf8)
        for (size, name) in [(65_536, "My Reader"), (65_537, nil)] as [(Int, String?)] {
            try (lines + String(repeating: "#", count: size - lines.utf8.count))
                .write(toFile: reader.configurationPath, atomically: false, encoding: .utf8)
            #expect(reader.installedName == name, "\(size)")
        }
    }

    @Test func `is not the one of another socket, nor one whose file others can write`() throws {
        let place = try Place()
        let reader = SystemReader(try ReaderOwner("4242424"), root: place.path)
        _ = try reader.install(try PlainDriver(Self.library(), path: "driver.so"), readerName: "My Reader")
        let lines = try String(contentsOfFile: reader.configurationPath, encoding: .utf8)
        #expect(unsafe chmod(reader.configurationPath, 0o666) == 0)
        #expect(reader.installedName == nil)
        #expect(unsafe chmod(reader.configurationPath, 0o644) == 0)
        #expect(reader.installedName == "My Reader")
        for (part, replacement) in [
            (":" + reader.socketPath, ":" + reader.socketPath + "x"), ("FRIENDLYNAME", "NAME"),
            ("\"My Reader\"", "My Reader"),
            ("DEVICENAME", "DEVICE"),
        ] {
            #expect(lines.contains(part))
            try lines.replacingOccurrences(of: part, with: replacement)
                .write(toFile: reader.configurationPath, atomically: false, encoding: .utf8)
            #expect(reader.installedName == nil, "\(part)")
        }
    }

    @Test func `has a name and paths that pcscd's configuration can hold`() throws {
        func found(_ name: String, socket: String = "/run/a", driver: String = "/usr/lib/b") -> String? {
            problem { () throws(EmulationError) in
                _ = try PCSCInstallation(readerName: name, socketPath: socket, driverPath: driver)
            }
        }
        let long = String(repeating: "n", count: 100)
        for name in ["n", "My Reader #1", long] { #expect(found(name) == nil) }
        for name in ["", long + "n", "a\"b", "a\nb", "a\u{1F}b"] {
            #expect(found(name) == "A reader's name has 1 to 100 bytes, and no quotes.")
        }
        for path in ["/a b", "/a\"b", "/a#b", "/a\tb"] {
            for problem in [found("n", socket: path), found("n", driver: path)] {
                #expect(problem == "pcscd's configuration takes no path with spaces or quotes, such as \(path).")
            }
        }
        let reader = try PCSCInstallation(readerName: "My Reader", socketPath: "/run/a!", driverPath: "/usr/lib/b")
        let lines = reader.configuration.split(separator: "\n").dropFirst()
        #expect(
            lines == [
                "FRIENDLYNAME \"My Reader\"", "DEVICENAME   /dev/null:/run/a!", "LIBPATH      /usr/lib/b",
                "CHANNELID    1",
            ]
        )
    }

    @Test func `has its socket in the folder that root has made for its user`() throws {
        let place = try Place()
        let path = place.path + "/" + (try #require(ReaderOwner.current)).name
        #expect(unsafe mkdir(path, 0o755) == 0 && chmod(path, 0o755) == 0)
        #expect(PCSCInstallation.defaultFolder(in: place.path)?.path == path)
    }

    /// In a process of its own, because a variable names the other place.
    @Test(.ownThreads) func `has its socket in a folder of the session where root has made none`() async {
        await #expect(processExitsWith: .success) {
            let place = try Place()
            func folder() -> String? { PCSCInstallation.defaultFolder(in: place.path + "/none")?.path }
            _ = unsafe unsetenv("XDG_RUNTIME_DIR")
            #expect(folder() == nil)
            _ = unsafe setenv("XDG_RUNTIME_DIR", "relative", 1)
            #expect(folder() == nil)
            _ = unsafe setenv("XDG_RUNTIME_DIR", place.path, 1)
            #expect(folder() == place.path + "/opencorenfc")
            #expect(place.has(place.path + "/opencorenfc") && !place.has(place.path + "/none"))
        }
    }

    @Test func `has a driver beside the program before one of the system's folders`() throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let own = (program as NSString).deletingLastPathComponent
        let missing = problem { () throws(EmulationError) in
            _ = try PCSCInstallation.findDriver(
                "It",
                beside: ["../none", "none"],
                or: ["/none"],
                otherwise: "Build it."
            )
        }
        #expect(missing == "It is in none of \(own)/../none, \(own)/none, /none. Build it.")
        let place = try Place()
        _ = try place.write("libOpenCoreNFCReader.so", [1])
        let found = try PCSCInstallation.findDriver("It", beside: ["."], or: [place.path], otherwise: "Build it.")
        let isBeside = place.has(own + "/libOpenCoreNFCReader.so")
        #expect(found == (isBeside ? own : place.path) + "/libOpenCoreNFCReader.so")
    }

    @Test func `has the driver of the first place that has one`() throws {
        let (first, second) = (try Place(), try Place())
        func found(_ folders: [String]) throws(EmulationError) -> String {
            try PCSCInstallation.findDriver("The driver", beside: [], or: folders, otherwise: "Build it.")
        }
        let paths = try [first, second].map { try $0.write("libOpenCoreNFCReader.so", [1]) }
        #expect(try found([first.path, second.path]) == paths[0])
        #expect(try found([second.path, first.path]) == paths[1])
        #expect(try found([first.path + "/none", second.path]) == paths[1])
        let missing = problem { () throws(EmulationError) in _ = try found(["/none/a", "/none/b"]) }
        #expect(missing == "The driver is in none of /none/a, /none/b. Build it.")
    }

    @Test func `is a user's who exists, by name or number`() throws {
        let current = try #require(ReaderOwner.current)
        #expect(current.user == geteuid())
        #expect(try ReaderOwner(current.name) == current)
        #expect(ReaderOwner.group(named: "root") == 0 && ReaderOwner.group(named: "no such group") == nil)
        #expect(try ReaderOwner("4242424") == ReaderOwner(String(4_242_424)))
        for text in ["", "no such user", "-1", "04242424", "4294967295"] {
            #expect(problem { () throws(EmulationError) in _ = try ReaderOwner(text) } == "There is no user \(text).")
        }
    }

    @Test func `is not one of a user whose name can't be in a file name`() {
        let longest = String(repeating: "n", count: 32)
        for name in ["a", "A.b-c_9", "a.", "a-", longest] { #expect(ReaderOwner.canBeFileName(name), "\(name)") }
        for name in [".a", "-a", "a/b", "a b", "a@b", "\u{FC}", longest + "n"] {
            #expect(!ReaderOwner.canBeFileName(name), "\(name)")
        }
    }
}
