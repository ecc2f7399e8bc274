// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Checks the service's messages when it can't use its folder, and that it removes no files of others there.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A runtime folder that can't be used` {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func service() throws -> RunningNfcd {
        try RunningNfcd([], environment: ["NFC_READER": "virtual", "XDG_RUNTIME_DIR": folder.path("runtime")])
    }

    @Test func `is refused in words`() throws {
        try FileManager.default.createDirectory(atPath: folder.path("runtime"), withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path("runtime"))
        let service = try service()
        #expect(service.errorsPrint("Others can change"))
        #expect(!service.errors.contains("Failure("), "\(service.errors)")
    }

    @Test func `keeps a file in the place of the socket`() throws {
        let path = folder.path("runtime/nfc/background")
        try FileManager.default.createDirectory(atPath: folder.path("runtime/nfc"), withIntermediateDirectories: true)
        for name in ["runtime", "runtime/nfc"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path(name))
        }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        let service = try service()
        #expect(service.errorsPrint("\(path) is in the place of a socket. Move it away"))
        #expect(!service.errors.contains("Failure("), "\(service.errors)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }
}
