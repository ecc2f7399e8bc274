// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import TestThreads
import Testing

@testable import ReaderEmulation  // the roots and folders of an installation are internal

/// The driver that pcscd loads as root, the reader that root installs for a user, and a pcscd of one's own.
struct InstallationTests {
    /// A folder of a test's own, which is removed with all that is in it.
    private final class Place {
        let path: String

        init() throws { path = try PrivateFolder.random("ocn-install").path }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ name: String, _ bytes: [UInt8], size: Int? = nil) throws -> String {
            try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
            if let size { #expect(unsafe truncate("\(path)/\(name)", size) == 0) }
            return "\(path)/\(name)"
        }
    }

    private static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// An ELF library that needs others, and may have a path on which they are searched.
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
        let head = [UInt8](hex: "7F454C46 02 01 01") + number(0, 9) + number(3, 2) + number(0, 14) + number(64, 8)
        func segment(_ kind: Int, _ start: Int, _ size: Int) -> [UInt8] {
            number(kind, 4) + number(4, 4) + number(start, 8) + number(start, 8) + number(start, 8)
                + number(size, 8) + number(size, 8) + number(8, 8)
        }
        return head + number(0, 14) + number(56, 2) + number(2, 2) + number(0, 6)
            + segment(1, 0, end + strings.count) + segment(2, dynamic, end - dynamic)
            + entries.flatMap { number($0.0, 8) + number($0.1, 8) } + strings
    }

    // MARK: The driver

    @Test func `driver: accepted only as a library that needs just the C library and loader, without a run path`() {
        let rows: [([String], String?, Bool)] = [
            (["libc.so.6"], nil, true), ([], nil, true), (["libpthread.so.0", "ld-linux-x86-64.so.2"], nil, true),
            (["libc.so.6", "libswiftCore.so"], nil, false), (["libc.so.60"], nil, false),
            (["libpthread.so.1"], nil, false), (["xld-linux.so"], nil, false), (["libc.so.6"], "/somewhere", false),
        ]
        for (names, runPath, isTaken) in rows {
            let bytes = Self.library(needing: names, runPath: runPath)
            #expect(((try? PlainDriver(bytes, path: "driver.so"))?.bytes == bytes) == isTaken, "\(names)")
        }
        for bytes in [[], Array("no driver".utf8), Array(Self.library().dropLast())] {
            #expect(throws: EmulationError.self) { try PlainDriver(bytes, path: "driver.so") }
        }
    }

    @Test func `driver's file: refused above 16 MiB, or if its group can change it or its folder`() throws {
        let place = try Place()
        let bytes = Self.library()
        for (size, isTaken) in [(bytes.count, true), (16 << 20, true), (16 << 20 + 1, false)] {
            let path = try place.write("driver.so", bytes, size: size)
            let driver = try? PlainDriver(path: path, builder: nil, checksPath: false)
            #expect(driver?.bytes.count == (isTaken ? size : nil))
        }
        #expect(throws: EmulationError.self) {
            try PlainDriver(path: place.path + "/none.so", builder: nil, checksPath: false)
        }
        let path = try place.write("driver.so", bytes)
        for (file, folder, isTaken) in [(0o644, 0o700, true), (0o664, 0o700, false), (0o644, 0o770, false)]
            as [(mode_t, mode_t, Bool)]
        {
            #expect(unsafe chmod(path, file) == 0 && chmod(place.path, folder) == 0)
            let driver = try? PlainDriver(path: path, builder: geteuid(), checksPath: true)
            #expect((driver != nil) == isTaken, "\(file) \(folder)")
            #expect(throws: Never.self) { try PlainDriver(path: path, builder: nil, checksPath: false) }
        }
    }

    /// In a process of its own, which becomes another user.
    @Test(.ownThreads, .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func `driver behind another user's folder or link: neither installed nor loaded, for root and another user`()
        async throws
    {
        let place = try Place()
        let real = try place.write("driver.so", Self.library())
        for (name, mode) in [("foreign", 0o755), ("sticky", 0o1777)] as [(String, mode_t)] {
            #expect(unsafe mkdir("\(place.path)/\(name)", 0o755) == 0 && chmod("\(place.path)/\(name)", mode) == 0)
            try FileManager.default.createSymbolicLink(
                atPath: "\(place.path)/\(name)/link",
                withDestinationPath: real
            )
            try FileManager.default.createSymbolicLink(
                atPath: "\(place.path)/\(name).so",
                withDestinationPath: "\(name)/link"
            )
        }
        #expect(unsafe chmod(place.path, 0o755) == 0)
        // The folder is another user's, and so is the link in the sticky folder.
        for path in ["foreign", "sticky/link"] { #expect(unsafe lchown("\(place.path)/\(path)", 12345, 12345) == 0) }
        for user in [0, 65_534] as [uid_t] {
            await #expect(processExitsWith: .success) { [folder = place.path as String, user = user as uid_t] in
                #expect(seteuid(user) == 0)
                for (name, isTrusted) in [("driver.so", true), ("foreign.so", false), ("sticky.so", false)] {
                    let path = "\(folder)/\(name)"
                    let driver = try? PlainDriver(path: path, builder: geteuid(), checksPath: true)
                    #expect((driver != nil) == isTrusted, "\(name)")
                    let isLoaded = (try? PCSCInstallation.checkTrust(path)) != nil
                    #expect(isLoaded == isTrusted, "\(name)")
                }
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root, to give files to another user"))
    func `private pcscd: a folder of configurations with another user's file is refused`() throws {
        let place = try Place()
        #expect(unsafe chmod(place.path, 0o755) == 0)
        _ = try place.write("opencorenfc", [])
        try PCSCInstallation.checkTrust(ofConfiguration: place.path)
        let path = try place.write("other", [])
        #expect(unsafe lchown(path, 12345, 12345) == 0)
        #expect(throws: EmulationError.self) { try PCSCInstallation.checkTrust(ofConfiguration: place.path) }
        #expect(unsafe unlink(path) == 0)
        // A name that is not UTF-8.
        let raw: [CChar] = Array("\(place.path)/".utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
        let file = unsafe open(raw, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        #expect(file >= 0 && fchown(file, 12345, 12345) == 0)
        close(file)
        #expect(throws: EmulationError.self) { try PCSCInstallation.checkTrust(ofConfiguration: place.path) }
    }

    @Test func `finding the driver: beside the program, then in the folders in their order`() throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let own = (program as NSString).deletingLastPathComponent
        let (first, second) = (try Place(), try Place())
        func found(_ folders: [String], beside: [String] = []) throws(EmulationError) -> String {
            try PCSCInstallation.findDriver("The driver", beside: beside, or: folders, otherwise: "Build it.")
        }
        let paths = try [first, second].map { try $0.write("libOpenCoreNFCReader.so", [1]) }
        #expect(try found([first.path, second.path]) == paths[0])
        #expect(try found([first.path + "/none", second.path]) == paths[1])
        let isBeside = Self.exists(own + "/libOpenCoreNFCReader.so")
        #expect(try found([first.path], beside: ["."]) == (isBeside ? own + "/libOpenCoreNFCReader.so" : paths[0]))
        #expect(throws: EmulationError.self) { try found(["/none/a"], beside: ["../none"]) }
    }

    // MARK: The reader

    @Test
    func
        `install and uninstall: each user's reader has its own files, and the last uninstall removes the driver`()
        throws
    {
        let place = try Place()
        let driver = try PlainDriver(Self.library(), path: "driver.so")
        // Slashes at the end of the root are left out.
        let one = SystemReader(try ReaderOwner("4242424"), root: place.path + "//")
        let other = SystemReader(try #require(ReaderOwner.current), root: place.path)
        #expect(one.root == place.path && one.socketPath != other.socketPath && one.installedName == nil)
        #expect(try one.uninstall() == [])
        let files = [one.installedDriverPath, one.temporaryPath, one.configurationPath]
        #expect(try one.install(driver, readerName: "My Reader") == files)
        #expect(files.allSatisfy { $0.hasPrefix(place.path + "/") && Self.exists($0) })
        #expect(FileManager.default.contents(atPath: one.installedDriverPath).map(Array.init) == driver.bytes)
        #expect(one.installedName == "My Reader" && other.installedName == nil)
        // Once more is once, with the new name.
        #expect(try one.install(driver, readerName: "Your Reader") == files)
        _ = try other.install(driver, readerName: "Third")
        #expect(one.installedName == "Your Reader" && other.installedName == "Third")
        #expect(try one.uninstall() == [one.configurationPath, one.temporaryPath])
        #expect(one.installedName == nil && other.installedName == "Third" && Self.exists(one.installedDriverPath))
        #expect(try other.uninstall() == [other.configurationPath, other.temporaryPath, other.installedDriverPath])
        #expect(try other.uninstall() == [] && !Self.exists(one.installedDriverPath))
    }

    @Test func `installed name: read from the reader's configuration, but nil if others can write the file`() throws {
        let place = try Place()
        let reader = SystemReader(try ReaderOwner("4242424"), root: place.path)
        _ = try reader.install(try PlainDriver(Self.library(), path: "driver.so"), readerName: "My Reader")
        let lines = try String(contentsOfFile: reader.configurationPath, encoding: .utf8)
        func name(_ text: String, mode: mode_t = 0o644) throws -> String? {
            try text.write(toFile: reader.configurationPath, atomically: false, encoding: .utf8)
            #expect(unsafe chmod(reader.configurationPath, mode) == 0)
            return reader.installedName
        }
        #expect(try name(lines) == "My Reader")
        #expect(try name(lines, mode: 0o666) == nil)
    }

    /// In a process of its own, which gives up the rights of root.
    @Test(.ownThreads) func `installing and removing in the system: only for root`() async {
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { #expect(seteuid(65_534) == 0) }
            let reader = SystemReader(try ReaderOwner("4242424"))
            let driver = try PlainDriver(Self.library(), path: "driver.so")
            #expect(throws: EmulationError.self) { try reader.uninstall() }
            #expect(throws: EmulationError.self) { try reader.install(driver, readerName: "My Reader") }
            if getuid() == 0 { #expect(seteuid(0) == 0) }
        }
    }

    /// In a process of its own, whose file system is the folder of a test.
    @Test(.ownThreads, .enabled(if: geteuid() == 0, "needs root"))
    func `system install: refused if others can write the folders of the socket; its own is the user's, mode 0700`()
        async throws
    {
        let place = try Place()
        await #expect(processExitsWith: .success) { [path = place.path as String] in
            func access(to path: String) -> [UInt32] {
                var status = stat()
                guard unsafe lstat(path, &status) == 0 else { return [] }
                return [status.st_uid, status.st_gid, status.st_mode & 0o7777]
            }
            let before = unsafe open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            // In some containers this is not allowed.
            guard unsafe chroot(path) == 0, unsafe chdir("/") == 0 else { return }
            let driver = try PlainDriver(Self.library(), path: "driver.so")
            let reader = SystemReader(try ReaderOwner("4242424"))
            let (folder, socket) = ("/run/opencorenfc", "/run/opencorenfc/4242424")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for part in [folder, "/run"] {
                #expect(unsafe chmod(part, 0o777) == 0)
                #expect(throws: EmulationError.self) { try reader.install(driver, readerName: "My Reader") }
                #expect(unsafe chmod(part, 0o755) == 0)
            }
            #expect(unsafe chmod(folder, 0o700) == 0)
            let files = [reader.installedDriverPath, reader.temporaryPath, socket, reader.configurationPath]
            #expect(try reader.install(driver, readerName: "My Reader") == files)
            #expect(access(to: folder) == [0, 0, 0o755] && access(to: socket) == [4_242_424, 4_242_424, 0o700])
            // What a reader that was killed has left goes with its folder.
            #expect(FileManager.default.createFile(atPath: reader.socketPath, contents: nil))
            #expect(Set(try reader.uninstall()) == Set(files) && files.allSatisfy { !Self.exists($0) })
            #expect(unsafe fchdir(before) == 0 && chroot(".") == 0)
            close(before)
        }
    }

    @Test func `pcscd's configuration: names of 1 to 100 bytes without quotes, paths without spaces`() throws {
        func isTaken(_ name: String, socket: String = "/run/a", driver: String = "/usr/lib/b") -> Bool {
            (try? PCSCInstallation(readerName: name, socketPath: socket, driverPath: driver)) != nil
        }
        let long = String(repeating: "n", count: 100)
        for name in ["n", "My Reader #1", long] { #expect(isTaken(name)) }
        for name in ["", long + "n", "a\"b", "a\nb", "a\u{1F}b"] { #expect(!isTaken(name), "\(name)") }
        for path in ["/a b", "/a\"b", "/a#b", "/a\tb"] {
            #expect(!isTaken("n", socket: path) && !isTaken("n", driver: path), "\(path)")
        }
        let reader = try PCSCInstallation(readerName: "My Reader", socketPath: "/run/a!", driverPath: "/usr/lib/b")
        #expect(
            reader.configuration.split(separator: "\n").dropFirst() == [
                "FRIENDLYNAME \"My Reader\"", "DEVICENAME   /dev/null:/run/a!", "LIBPATH      /usr/lib/b",
                "CHANNELID    1",
            ]
        )
    }

    @Test func `an owner: an existing user by name or number, whose name can be in a file name`() throws {
        let current = try #require(ReaderOwner.current)
        #expect(try current.userID == geteuid() && ReaderOwner(current.name) == current)
        #expect(ReaderOwner.group(named: "root") == 0 && ReaderOwner.group(named: "no such group") == nil)
        for text in ["", "no such user", "-1", "04242424", "4294967295"] {
            #expect(throws: EmulationError.self, "\(text)") { try ReaderOwner(text) }
        }
        let longest = String(repeating: "n", count: 32)
        for name in ["a", "A.b-c_9", "a.", "a-", longest] { #expect(ReaderOwner.canBeFileName(name), "\(name)") }
        for name in [".a", "-a", "a/b", "a b", "a@b", "\u{FC}", longest + "n"] {
            #expect(!ReaderOwner.canBeFileName(name), "\(name)")
        }
    }

    /// In a process of its own, because a variable names the other place.
    @Test(.ownThreads) func `socket's folder: the one that root made, else one in XDG_RUNTIME_DIR, else none`() async {
        await #expect(processExitsWith: .success) {
            let place = try Place()
            let path = place.path + "/" + (try #require(ReaderOwner.current)).name
            #expect(unsafe mkdir(path, 0o755) == 0 && chmod(path, 0o755) == 0)
            #expect(PCSCInstallation.defaultFolder(in: place.path)?.path == path)
            func folder() -> String? { PCSCInstallation.defaultFolder(in: place.path + "/none")?.path }
            _ = unsafe unsetenv("XDG_RUNTIME_DIR")
            #expect(folder() == nil)
            _ = unsafe setenv("XDG_RUNTIME_DIR", "relative", 1)
            #expect(folder() == nil)
            _ = unsafe setenv("XDG_RUNTIME_DIR", place.path, 1)
            #expect(folder() == place.path + "/opencorenfc" && Self.exists(place.path + "/opencorenfc"))
        }
    }

    // MARK: A pcscd of one's own

    @Test(.enabled(if: unsafe access("/usr/sbin/pcscd", X_OK) == 0, "pcscd is not installed"))
    func `private pcscd: ends when stopped, also if it hangs; failure() names the signal that ended it`() async throws {
        for signal in [nil, SIGSTOP, SIGKILL] as [Int32?] {
            let folder = try PrivateFolder.random("ocn-pcscd")
            let readers = try folder.folder("readers")
            let pcscd = try PrivatePCSCD(folder: folder, configuration: readers.path)
            let log = FileHandle(fileDescriptor: try folder.open("pcscd.log", O_RDONLY), closeOnDealloc: true)
            func text() throws -> String {
                try log.seek(toOffset: 0)
                return String(decoding: try log.readToEnd() ?? Data(), as: UTF8.self)
            }
            #expect(pcscd.failure() == nil)
            if let signal { #expect(kill(pcscd.processIdentifier, signal) == 0) }
            if signal == nil { try await waitWhile(!text().contains("daemon ready")) }
            if signal == SIGKILL { try await waitWhile(pcscd.failure() == nil) }
            #expect(pcscd.failure()?.contains("signal 9") == (signal == SIGKILL ? true : nil))
            await callDriver { pcscd.stop() }
            #expect(waitpid(pcscd.processIdentifier, nil, 0) == -1)
            #expect(try signal != nil || text().contains("at_exit()"))
            try? folder.remove("pcscd.log")
            readers.removeIfEmpty()
            folder.removeIfEmpty()
            #expect(!Self.exists(folder.path), "\(signal ?? 0)")
        }
    }
}
