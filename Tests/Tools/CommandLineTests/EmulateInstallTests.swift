// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

@Suite(.ownThreads) struct `A reader that root installs` {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The driver without Swift, as packages have it.
    private func plainDriver() throws -> String {
        let driver = scratch.path("plain.so")
        let build = try Command(name: "env").run(Self.repository.path + "/dev/build-pcsc-driver", driver)
        try #require(build.status == 0, "\(build.error)")
        return driver
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func `A staged installation has the driver, pcscd's lines and the socket's folder, and all of it goes again`()
        throws
    {
        let root = scratch.path("stage")
        let driver = try plainDriver()
        let run = try NFCTool.run([
            "emulate", "install", "--for", "nobody", "--root", root, "--driver", driver, "--reader-name", "Desk",
            "--json",
        ])
        #expect(run.status == 0, "\(run.errorText)")
        #expect(
            run.text.hasPrefix(#"{"ok":true,"user":"nobody","socket":"/run/opencorenfc/nobody/reader.sock","files":["#)
        )
        #expect(run.text.hasSuffix("/etc/reader.conf.d/opencorenfc-nobody\"]}\n"))
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
        let second = try NFCTool.run(other)
        #expect(second.status == 0)
        // Nothing is said of the system's pcscd, which has no part in it.
        #expect(second.lines == ([root + library] + files).map { "Wrote \($0)" })
        let first = try NFCTool.run(["emulate", "uninstall", "--for", "nobody", "--root", root])
        #expect(first.status == 0, "\(first.errorText)")
        #expect(FileManager.default.fileExists(atPath: root + library))
        let removed = ["/etc/reader.conf.d/opencorenfc-nobody", "/etc/tmpfiles.d/opencorenfc-nobody.conf"]
        let restart = "pcscd drops it at its next start: systemctl restart pcscd"
        #expect(first.lines == removed.map { "Removed \(root)\($0)" } + [restart])
        let words = ["emulate", "uninstall", "--for", "root", "--root", root]
        let object = #"{"ok":true,"files":["\#(files[1])","\#(files[0])","\#(root + library)"]}"#
        #expect(try NFCTool.run(words + ["--json"]).text == object + "\n")
        #expect(!FileManager.default.fileExists(atPath: root + library))
        #expect(try NFCTool.run(words).text == "Nothing was installed.\n")
        #expect(try NFCTool.run(words + ["--json"]).text == #"{"ok":true,"files":[]}"# + "\n")
    }

    @Test func `A driver that needs Swift, names folders, or is not a driver is refused`() throws {
        let root = scratch.path("stage")
        let built =
            URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
            + "/libOpenCoreNFCReader.so"
        let text = scratch.path("text.so")
        try "no driver".write(toFile: text, atomically: true, encoding: .utf8)
        let linked = scratch.path("linked.so")
        let compiler = try Command(name: "env").run(
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
        for (driver, word) in [(built, "look for libraries in"), (text, "no ELF file"), (linked, "needs libm.so.6")] {
            let run = try NFCTool.run(["emulate", "install", "--for", "nobody", "--root", root, "--driver", driver])
            #expect(run.status == 1)
            #expect(run.errorText.contains(word), "\(run.errorText)")
            #expect(run.errorText.contains("dev/build-pcsc-driver"))
        }
        #expect(!FileManager.default.fileExists(atPath: root))
    }

    @Test func `An unknown user, and a user who is not root, are refused`() throws {
        let driver = try plainDriver()
        let nobody = try NFCTool.run([
            "emulate", "install", "--for", "no-such-user", "--root", scratch.path("stage"), "--driver", driver,
        ])
        #expect(nobody.status == 1)
        #expect(nobody.errorText.contains("There is no user no-such-user."))
        let unknown = try NFCTool.run(["emulate", "uninstall", "--for", "no-such-user", "--json"])
        #expect(unknown.status == 1)
        #expect(unknown.text == #"{"ok":false,"error":"no-user","message":"There is no user no-such-user."}"# + "\n")
        let words = ["emulate", "install", "--for", "nobody", "--driver", driver]
        let run =
            geteuid() == 0
            ? try Command(name: "env").run(
                ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", Command(name: "nfc").path] + words
            ) : try Command(name: "nfc").run(words)
        #expect(run.status == 1)
        // Root's file is in a folder that only root can read.
        #expect(run.error.contains("Only root can install a reader") || run.error.contains("can be changed by others"))
    }

    @Test(.enabled(if: geteuid() == 0, "Only root installs."))
    func `A driver that another user can change is refused for the system`() throws {
        let driver = try plainDriver()
        #expect(unsafe chown(driver, 65534, 65534) == 0)
        let run = try NFCTool.run(["emulate", "install", "--for", "nobody", "--driver", driver])
        #expect(run.status == 1)
        #expect(run.errorText.contains("\(driver) can be changed by others than root"))
        #expect(!FileManager.default.fileExists(atPath: "/etc/reader.conf.d/opencorenfc-nobody"))
    }

    @Test(.enabled(if: geteuid() == 0, "Only for root do such lines give root away."))
    func `As root no lines are written to a folder that others can change`() throws {
        let image = scratch.path("card.json")
        #expect(try NFCTool.run(["tag", "create", "--product", "NTAG213", "--out", image]).status == 0)
        let open = scratch.path("open")
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
        #expect(unsafe chmod(open, 0o777) == 0)
        let run = try NFCTool.run([
            "emulate", "--image", image, "--pcsc", "--folder", scratch.path("own"), "--reader-conf", open + "/conf",
            "--timeout", "0.2",
        ])
        #expect(run.status == 3)
        #expect(run.errorText.contains("can be changed by others than root"))
        #expect(run.errorText.contains("sudo nfc emulate install"))
        #expect(!FileManager.default.fileExists(atPath: open + "/conf"))
    }

    @Test func `The advice to people gives nobody root rights`() throws {
        let image = scratch.path("card.json")
        #expect(try NFCTool.run(["tag", "create", "--product", "NTAG213", "--out", image]).status == 0)
        let run = try NFCTool.run([
            "emulate", "--image", image, "--pcsc", "--folder", scratch.path("own"), "--timeout", "0.2",
        ])
        #expect(run.status == 0)
        #expect(run.text.contains("sudo nfc emulate install --for "))
        #expect(!run.text.contains("cp "))
    }
}
