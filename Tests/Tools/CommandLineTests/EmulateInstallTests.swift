// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import TestThreads
import Testing

/// A reader that root installs.
@Suite(.ownThreads) struct EmulateInstallTests {
    private let scratch: TestFolder
    private let nfc = TestProgram("nfc")

    init() throws { scratch = try TestFolder() }

    /// The driver without Swift, as packages have it.
    private func plainDriver() throws -> String {
        let driver = scratch.path("plain.so")
        let build = try TestProgram("env").run(repository.path + "/dev/build-pcsc-driver", driver)
        try #require(build.status == 0, "\(build.error)")
        return driver
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test
    func `install --root: writes the driver, pcscd's lines and the tmpfiles lines; uninstall removes all of them`()
        throws
    {
        let root = scratch.path("stage")
        let driver = try plainDriver()
        let run = try nfc.run([
            "emulate", "install", "--for", "nobody", "--root", root, "--driver", driver, "--reader-name", "Desk",
            "--json",
        ])
        #expect(run.status == 0, "\(run.error)")
        #expect(
            run.output.hasPrefix(
                #"{"ok":true,"user":"nobody","socket":"/run/opencorenfc/nobody/reader.sock","files":["#
            )
        )
        #expect(run.output.hasSuffix("/etc/reader.conf.d/opencorenfc-nobody\"]}\n"))
        let lines = try String(contentsOfFile: root + "/etc/reader.conf.d/opencorenfc-nobody", encoding: .utf8)
        #expect(lines.contains(#"FRIENDLYNAME "Desk""#))
        #expect(lines.contains("DEVICENAME   /dev/null:/run/opencorenfc/nobody/reader.sock\n"))
        let library = "/usr/lib/pcsc/drivers/serial/libOpenCoreNFCReader.so"
        #expect(lines.contains("LIBPATH      \(library)\n"))
        let installed = try Data(contentsOf: URL(fileURLWithPath: root + library))
        #expect(try installed == Data(contentsOf: URL(fileURLWithPath: driver)))
        let temporary = try String(contentsOfFile: root + "/etc/tmpfiles.d/opencorenfc-nobody.conf", encoding: .utf8)
        #expect(temporary.contains("d /run/opencorenfc 0755 root root -\n"))
        #expect(temporary.contains("d /run/opencorenfc/nobody "))
        #expect(mode(root + library) == 0o644 && mode(root + "/etc/reader.conf.d") == 0o755)
        #expect(!FileManager.default.fileExists(atPath: root + "/run"))

        // The driver stays as long as another user has a reader.
        let other = ["emulate", "install", "--for", "0", "--root", root, "--driver", driver]
        let files = ["/etc/tmpfiles.d/opencorenfc-root.conf", "/etc/reader.conf.d/opencorenfc-root"].map { root + $0 }
        let second = try nfc.run(other)
        #expect(second.status == 0)
        // Nothing is said of the system's pcscd, which has no part in it.
        #expect(second.lines == ([root + library] + files).map { "Wrote \($0)" })
        let first = try nfc.run(["emulate", "uninstall", "--for", "nobody", "--root", root])
        #expect(first.status == 0, "\(first.error)")
        #expect(FileManager.default.fileExists(atPath: root + library))
        let removed = ["/etc/reader.conf.d/opencorenfc-nobody", "/etc/tmpfiles.d/opencorenfc-nobody.conf"]
        let restart = "To unload the reader, restart pcscd: systemctl restart pcscd"
        #expect(first.lines == removed.map { "Removed \(root)\($0)" } + [restart])
        let words = ["emulate", "uninstall", "--for", "root", "--root", root]
        let object = #"{"ok":true,"files":["\#(files[1])","\#(files[0])","\#(root + library)"]}"#
        #expect(try nfc.run(words + ["--json"]).output == object + "\n")
        #expect(!FileManager.default.fileExists(atPath: root + library))
        #expect(try nfc.run(words).output == "Nothing was installed.\n")
        #expect(try nfc.run(words + ["--json"]).output == #"{"ok":true,"files":[]}"# + "\n")
    }

    @Test func `install of a driver with a search path, with other libraries, or that is no ELF file: refused`() throws
    {
        let root = scratch.path("stage")
        let built =
            URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
            + "/libOpenCoreNFCReader.so"
        let text = scratch.path("text.so")
        try "no driver".write(toFile: text, atomically: true, encoding: .utf8)
        let linked = scratch.path("linked.so")
        let compiler = try TestProgram("env").run(
            "cc",
            "-shared",
            "-o",
            linked,
            "-x",
            "c",
            "/dev/null",
            "-Wl,--no-as-needed",
            "-lm"
        )
        #expect(compiler.status == 0, "\(compiler.error)")
        for (driver, word) in [
            (built, "look for libraries in"), (text, "not an ELF file"), (linked, "needs libm.so.6"),
        ] {
            let run = try nfc.run(["emulate", "install", "--for", "nobody", "--root", root, "--driver", driver])
            #expect(run.status == 1)
            #expect(run.error.contains(word), "\(run.error)")
            #expect(run.error.contains("dev/build-pcsc-driver"))
        }
        #expect(!FileManager.default.fileExists(atPath: root))
    }

    @Test func `install by a user who is not root: refused`() throws {
        let words = ["emulate", "install", "--for", "nobody", "--driver", try plainDriver()]
        let nfc = TestProgram("nfc")
        let user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", nfc.path]
        let run = geteuid() == 0 ? try TestProgram("env").run(user + words) : try nfc.run(words)
        #expect(run.status == 1)
        // Root's file is in a folder that only root can read.
        #expect(run.error.contains("Only root can install a reader") || run.error.contains("Permission denied"))
    }

    @Test(.enabled(if: geteuid() == 0, "Only root installs."))
    func `install of a driver that another user can change: refused`() throws {
        let driver = try plainDriver()
        #expect(unsafe chown(driver, 65534, 65534) == 0)
        let run = try nfc.run(["emulate", "install", "--for", "nobody", "--driver", driver])
        #expect(run.status == 1)
        #expect(run.error.contains("\(driver) can be changed by another user"))
        #expect(!FileManager.default.fileExists(atPath: "/etc/reader.conf.d/opencorenfc-nobody"))
    }
}
