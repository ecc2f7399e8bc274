// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import ProgramTesting
import TestThreads
import Testing

@testable import nfc  // the parts of a demonstration are internal

/// The programs of a demonstration, and where it takes place.
@Suite(.ownThreads, .timeLimit(.minutes(3))) struct DemoPartTests {
    private let scratch: TestFolder

    init() throws { scratch = try TestFolder() }

    private func shell(_ script: String, input: String? = nil) throws -> DemoProgram {
        let variables = ["PATH": "/usr/bin:/bin", "WORD": "said"]
        return try DemoProgram("/bin/sh", ["-c", script], input: input, environment: variables)
    }

    /// Waits until the program has printed something, or has ended.
    private func wait(for program: DemoProgram) {
        var poller = pollfd(fd: program.descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&poller, 1, 1000)
    }

    /// The lines of the program from now on, until it ends. It is reaped, because the testing library hears of no other
    /// process as long as one waits that is not its own.
    private func lines(of program: DemoProgram) -> [String] {
        var lines: [String] = []
        while !program.isAtEnd {
            wait(for: program)
            lines += program.lines()
        }
        waitpid(program.identifier, nil, 0)
        return lines
    }

    @Test func `program of the demo: gets its input and variables, and its last line may lack a line end`() throws {
        let input = scratch.path("input")
        try "x\n\ny\n".write(toFile: input, atomically: true, encoding: .utf8)
        let program = try shell("cat; echo \"$WORD\"; printf 'a\\n\\nb'", input: input)
        #expect(lines(of: program) == ["x", "y", "said", "a", "b"])
        #expect(program.lines() == [])
        #expect(lines(of: try shell("cat; echo end")) == ["end"])
    }

    @Test func `program of the demo: a line written in two parts is read as one`() throws {
        let input = scratch.path("input")
        try #require(unsafe mkfifo(input, 0o600) == 0)
        let end = unsafe open(input, O_RDWR | O_CLOEXEC)
        defer { close(end) }
        let program = try shell("printf ab; read -r line; printf 'c\\nd'", input: input)
        wait(for: program)
        #expect(program.lines() == [] && !program.isAtEnd)
        _ = unsafe write(end, "\n", 1)
        #expect(lines(of: program) == ["abc", "d"])
    }

    @Test func `program of the demo that can't be started: a failure with the reason and what to do`() {
        for (path, input, reason) in [
            ("/nowhere/app", nil, "No such file or directory"), ("/bin/sh", "/nowhere/input", "Bad file descriptor"),
        ] as [(String, String?, String)] {
            let error = #expect(throws: CommandFailure.self) {
                try DemoProgram(path, [], input: input, environment: [:])
            }
            #expect(error?.status == .refused && error?.name == "not-started")
            #expect(error?.message == "\(path) can't be started: \(reason). Build it again: swift build")
        }
    }

    // MARK: The sandbox

    private func variables(_ own: [String: String], usesDesktop: Bool = true) -> [String: String] {
        DemoSandbox.environment(of: "/f", app: "/apps/TagReader", usesDesktop: usesDesktop, own: own)
    }

    @Test func `variables of the demo: its own folders and virtual reader, nothing of the person's NFC settings`() {
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

    @Test func `variables of the demo: a relative WAYLAND_DISPLAY becomes a path`() {
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

    @Test func `removal of a demo's folder: folders of other programs are left alone`() throws {
        let scratch = try TestFolder()
        for name in ["other", "nfc-demo", "nfc-demonstration"] {
            try scratch.makeFolder(name)
            #expect(!DemoSandbox.takeAway(scratch.path(name)) && scratch.has(name), "\(name)")
        }
        #expect(!DemoSandbox.takeAway(scratch.path("nfc-demo.none")))
    }
}
