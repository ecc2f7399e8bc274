// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import ProgramTesting
import TestThreads
import Testing

/// How programs are linked.
@Suite(.ownThreads) struct LinkageTests {
    /// The targets without Foundation. One that is left out is missed when the probe is linked.
    private static let targets = [
        "CLinuxSupport", "CardCryptography", "NDEF", "TagLink", "TagProducts", "TagProtocols", "TextSafety",
        "VirtualTags",
    ]

    /// Where the compiled targets are: beside the tests.
    private static let build = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// The objects of targets that a program is linked from.
    private static func objects(of program: String = "nfc", from targets: [String] = targets) throws -> [String] {
        let list = build.appendingPathComponent("\(program).product/Objects.LinkFileList")
        return try String(contentsOf: list, encoding: .utf8).split(separator: "\n").map(String.init).filter { path in
            targets.contains { path.contains("/\($0).build/") }
        }
    }

    @Test func `tags, their protocols and messages: linked and run without Foundation`() throws {
        let scratch = try TestFolder()
        let probe = scratch.path("probe")
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "LinkageProbe.swift"
        )
        let modules = Self.build.appendingPathComponent("Modules")
        // All objects, not an archive, so that unused code counts too.
        let map = Self.build.appendingPathComponent("CLinuxSupport.build/module.modulemap").path
        let arguments = [
            "swiftc", "-swift-version", "6", "-I", modules.path, "-Xcc", "-fmodule-map-file=\(map)", source.path,
            "-o", probe,
        ]
        let compiler = try TestProgram("env").run(arguments + Self.objects())
        #expect(compiler.status == 0, "\(compiler.error)")
        #expect(try TestProgram("env").run(probe).output == "16 bytes, 0 tags\n")

        let libraries = try TestProgram("ldd").run(probe)
        #expect(libraries.status == 0)
        #expect(libraries.output.contains("libswiftCore"))
        #expect(!libraries.output.contains("Foundation"))
    }

    @Test func `nfc: linked with Foundation, so that ldd can tell programs with it from those without`() throws {
        #expect(try TestProgram("ldd").run(TestProgram("nfc").path).output.contains("Foundation"))
    }

    @Test func `program with CoreNFC: has no part of the test kit, which replaces functions of the system`() throws {
        #expect(try !Self.objects(of: "FirstScan", from: ["CoreNFC"]).isEmpty)
        #expect(try Self.objects(of: "FirstScan", from: ["NFCTestKit", "CClockReading"]).isEmpty)
    }

    @Test func `driver of pcscd: needs the C library only, and names no folders`() throws {
        let scratch = try TestFolder()
        let driver = scratch.path("driver.so")
        let build = try TestProgram("env").run(repository.path + "/dev/build-pcsc-driver", driver)
        try #require(build.status == 0, "\(build.error)")
        let library = try ELFFile(parsing: [UInt8](Data(contentsOf: URL(fileURLWithPath: driver))))
        #expect(library.runPath == nil)
        #expect(library.neededLibraries == ["libc.so.6"])
    }
}
