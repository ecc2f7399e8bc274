// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

@Suite(.ownThreads) struct `Linkage` {
    /// The targets below CoreNFC. One that is left out is missed when the probe is linked.
    private static let targets = [
        "CLibCrypto", "CSystemCalls", "CardCryptography", "NDEF", "NFCRuntime", "PCSCDriver", "PN532Driver",
        "PrivateStorage",
        "ReaderEmulation",
        "SystemLibrary", "TagImages", "TagLink", "TagProtocols", "TagTrace", "VirtualCards", "VirtualTags",
        "VisibleText",
    ]

    /// Where the compiled targets are: beside the tests.
    private static let build = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// The objects of the targets, by the list of what `nfc` is linked from.
    private static func objects() throws -> [String] {
        let list = build.appendingPathComponent("nfc.product/Objects.LinkFileList")
        return try String(contentsOf: list, encoding: .utf8).split(separator: "\n").map(String.init).filter { path in
            targets.contains { path.contains("/\($0).build/") }
        }
    }

    @Test func `What lies below CoreNFC runs, and does without Foundation`() throws {
        let scratch = try ScratchFolder()
        let probe = scratch.path("probe")
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "LinkageProbe.swift"
        )
        let modules = Self.build.appendingPathComponent("Modules")
        // All objects, not an archive, so that unused code counts too.
        let maps = ["CLibCrypto", "CSystemCalls"].flatMap { name in
            ["-Xcc", "-fmodule-map-file=\(Self.build.appendingPathComponent("\(name).build/module.modulemap").path)"]
        }
        let arguments = [
            "swiftc", "-swift-version", "6", "-I", modules.path, source.path, "-o", probe,
        ]
        let compiler = try Command(name: "env").run(arguments + maps + Self.objects())
        #expect(compiler.status == 0, "\(compiler.error)")
        #expect(try Command(name: "env").run(probe).output == "16 bytes, 0 tags, 60.0 seconds\n")

        let libraries = try Command(name: "ldd").run(probe)
        #expect(libraries.status == 0)
        #expect(libraries.output.contains("libswiftCore"))
        #expect(!libraries.output.contains("Foundation"))
    }

    @Test func `The sample app needs Foundation, so the check above can tell`() throws {
        #expect(try Command(name: "ldd").run(Command(name: "TagReader").path).output.contains("Foundation"))
    }
}
