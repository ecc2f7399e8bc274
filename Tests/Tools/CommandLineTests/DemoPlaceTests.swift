// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivateStorage
import Testing

@testable import nfc

/// Where a demonstration takes place, and what of an earlier one is removed.
@Suite struct `The place of a demonstration` {
    private func variables(_ own: [String: String], usesDesktop: Bool = true) -> [String: String] {
        DemoPlace.environment(of: "/f", app: "/apps/TagReader", usesDesktop: usesDesktop, own: own)
    }

    @Test func `Its programs have folders of their own, and nothing of the person's readers and tags`() {
        let own = [
            "HOME": "/h", "PATH": "/p", "NFC_READER": "pcsc", "NFC_RECORD": "r", "TAGREADER_STORE": "s",
            "TAGREADER_OTHER": "o", "XDG_DATA_HOME": "/d", "XDG_RUNTIME_DIR": "/run/user/7", "DISPLAY": ":0",
            "WAYLAND_DISPLAY": "wayland-7", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/7/bus",
        ]
        var expected = [
            "HOME": "/h", "PATH": "/apps:/p", "NFC_READER": "virtual", "NFC_TAGS": "/f/tags", "NFC_DEMO": "/f",
            "TAGREADER_STORE": "/f/messages.json", "XDG_DATA_HOME": "/f/data", "XDG_STATE_HOME": "/f/state",
            "XDG_CACHE_HOME": "/f/cache", "XDG_CONFIG_HOME": "/f/config", "XDG_RUNTIME_DIR": "/f/run", "DISPLAY": ":0",
            "WAYLAND_DISPLAY": "/run/user/7/wayland-7", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
        ]
        #expect(variables(own) == expected)
        for name in ["DISPLAY", "WAYLAND_DISPLAY"] { expected[name] = nil }
        #expect(variables(own, usesDesktop: false) == expected)
    }

    @Test func `The name of a display's socket changes only where it is relative to a folder that is known`() {
        let folder = ["XDG_RUNTIME_DIR": "/run/user/7"]
        for (own, name) in [
            (folder.merging(["WAYLAND_DISPLAY": "/x/wayland"]) { $1 }, "/x/wayland"),
            (folder.merging(["WAYLAND_DISPLAY": ""]) { $1 }, ""), (["WAYLAND_DISPLAY": "wayland-7"], "wayland-7"),
            (folder, nil),
        ] as [([String: String], String?)] {
            #expect(variables(own)["WAYLAND_DISPLAY"] == name)
        }
        #expect(variables([:])["PATH"] == "/apps:/usr/local/bin:/usr/bin:/bin")
    }

    @Test func `What took too long is named, with the last words of the service`() {
        let silent = DemoLoop.tooLong("the click", "")
        #expect(silent.name == "timeout" && silent.message == "Waiting for the click took too long.")
        let message = DemoLoop.tooLong("the click", "It reads.").message
        #expect(message == "Waiting for the click took too long. The service reports: It reads.")
    }

    @Test func `A folder is removed where it is an earlier demonstration's, and its process is gone`() throws {
        let scratch = try ScratchFolder()
        func place(_ name: String, isLocked: Bool = true) throws -> String {
            let path = scratch.path(name)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            if isLocked { try Data().write(to: URL(fileURLWithPath: path + "/lock")) }
            return path
        }
        for path in [
            try place("other"), try place("nfc-demo"), try place("nfc-demonstration"),
            try place("nfc-demo.1", isLocked: false), scratch.path("nfc-demo.none"),
        ] {
            #expect(!DemoLeftovers.remove(path, within: 0), "\(path)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("")).count == 4)
        let running = try PrivateFolder(scratch.path("nfc-demo.2"))
        let lock = try DemoLeftovers.lock(running)
        #expect(!DemoLeftovers.remove(running.path, within: 1))
        close(lock)
        #expect(FileManager.default.fileExists(atPath: running.path))
    }
}
