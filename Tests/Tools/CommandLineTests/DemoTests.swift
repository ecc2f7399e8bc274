// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import Synchronization
import TestThreads
import Testing
import UserBus

@Suite(.ownThreads, .enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"))
struct DemoTests {
    private let tagReaderFiles = repository.appending(path: "Examples/TagReader/Installation")
    private let scratch: TestFolder
    private var nfc: TestProgram

    init() throws {
        scratch = try TestFolder()
        // A socket's path is short.
        nfc = TestProgram(
            "nfc",
            ["TMPDIR": scratch.path, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere", "TERM": "dumb"]
        )
    }

    /// What the demonstration left in its folder for temporary files.
    private func left() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter { $0.hasPrefix("nfc-demo") }
    }

    /// The programs of a demonstration that still run.
    private func programs(of folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).filter { process in
            guard Int(process) != nil, let data = FileManager.default.contents(atPath: "/proc/\(process)/environ")
            else { return false }
            return String(decoding: data, as: UTF8.self).contains("NFC_DEMO=\(folder)")
        }
    }

    private func steps(_ outcome: TestProgram.Outcome) -> [String] {
        outcome.objects.map { $0["step"] ?? $0["error"] ?? "" }
    }

    /// Writes a program of a test's own.
    ///
    /// - Parameter script: its lines. In them, `$app` is the sample app.
    private func write(_ path: String, _ script: String) throws {
        let text = "#!/bin/sh\napp='\(TestProgram("TagReader").path)'\n\(script)\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// A copy of nfc, in the folder `programs`, which finds programs of a test's own beside it.
    ///
    /// - Parameters:
    ///   - app: what the program in place of the sample app does.
    ///   - service: what the program in place of the service does; nil for the service itself.
    private func copy(app: String, service: String? = nil) throws -> TestProgram {
        let files = FileManager.default
        let folder = scratch.path("programs")
        try files.createDirectory(atPath: folder + "/x_TagReader.resources", withIntermediateDirectories: true)
        try files.createSymbolicLink(
            atPath: folder + "/x_TagReader.resources/Installation",
            withDestinationPath: tagReaderFiles.path
        )
        try write(folder + "/TagReader", app)
        if let service {
            try write(folder + "/nfcd", service)
        } else {
            let path = TestProgram("nfcd").path
            try files.createSymbolicLink(atPath: folder + "/nfcd", withDestinationPath: path)
        }
        try #require(try TestProgram("cp").run(TestProgram("nfc").path, folder).status == 0)
        return TestProgram(folder + "/nfc", nfc.environment)
    }

    /// Makes a folder as a demonstration leaves it that was killed.
    private func leave() throws -> String {
        let path = scratch.path("nfc-demo.killed")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    @Test func `nfc demo without a desktop: every step from the tag to the message in the app, and all is removed`()
        throws
    {
        let outcome = try nfc.run("demo", "--yes", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        let objects = outcome.objects
        try #require(
            steps(outcome) == [
                "place", "app", "no-desktop", "service", "tag", "notification", "click", "app-opened", "end",
            ]
        )
        #expect(objects[5]["lines"] == #"["NFC Tag Detected","Open “tagreader.example” in Tag Reader"]"#)
        let message = try #require(objects[7]["lines"])
        #expect(message.contains("  Payload     Link: https://tagreader.example/welcome"))
        #expect(message.contains("  Payload     Text (en): Welcome to the demonstration."))
        #expect(try left().isEmpty)
        #expect(programs(of: scratch.path).isEmpty)
    }

    @Test func `nfc demo --terminal: Return clicks, input that ends does not, and all is removed`() throws {
        let clicked = try nfc.run("demo", "--terminal", input: "\n")
        #expect(clicked.status == 0, "\(clicked)")
        #expect(clicked.lines.contains("  Press Return to click it, or Ctrl-C to stop."))
        #expect(clicked.lines.contains("    NFC Tag Detected") && clicked.error == "")
        #expect(clicked.lines.last == "- Everything was removed: the service, the bus, the app and the folder.")
        let ended = try nfc.run("demo", "--terminal", "--json")
        #expect(ended.status == 1)
        #expect(steps(ended).last == "no-click")
        #expect(ended.error == "  Press Return to click it, or Ctrl-C to stop.\n")
        #expect(try left().isEmpty)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `nfc demo ended by a signal: status 130, and all is removed`(signal: Int32) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: nfc.path)
        process.arguments = ["demo", "--terminal"]
        process.environment = nfc.variables
        let log = scratch.path("log")
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        process.standardOutput = FileHandle(forWritingAtPath: log)
        process.standardError = FileHandle.nullDevice
        // Nothing comes here, and it does not end.
        let input = Pipe()
        process.standardInput = input
        try process.run()
        for _ in 0..<2000 {
            if try String(contentsOfFile: log, encoding: .utf8).contains("Press Return") { break }
            usleep(10_000)
        }
        let folder = try #require(try left().first)
        #expect(programs(of: scratch.path(folder)).count == 2)
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(try left().isEmpty)
        #expect(programs(of: scratch.path(folder)).isEmpty)
        withExtendedLifetime(input) {}
    }

    @Test(
        arguments: ["--yes", "--yes --json", "--terminal"],
        [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
    )
    func `nfc demo whose output can't be written: status 1 with the reason, and all is removed`(
        arguments: String,
        output: (redirection: String, reason: String)
    ) throws {
        let script = "'\(nfc.path)' demo \(arguments) \(output.redirection)"
        let outcome = try TestProgram("bash", nfc.environment).run("-c", script)
        #expect(outcome.error == "Error: Standard output can't be written: \(output.reason).\n")
        #expect(outcome.status == 1)
        #expect(try left().isEmpty)
        #expect(programs(of: scratch.path).isEmpty)
    }

    @Test func `nfc demo whose output is closed: ends by SIGPIPE without a message, and all is removed`() throws {
        let script = "'\(nfc.path)' demo --yes | head -n 1; exit ${PIPESTATUS[0]}"
        let outcome = try TestProgram("bash", nfc.environment).run("-c", script)
        #expect(outcome.lines.count == 1)
        #expect(outcome.error == "")
        #expect(outcome.status == 128 + SIGPIPE)
        #expect(try left().isEmpty)
    }

    @Test func `nfc demo with a desktop: the desktop shows the notification, and a click opens the app`() throws {
        let bus = try SessionBus()
        let desktop = Desktop()
        try desktop.start(bus.address)
        defer { desktop.stop() }
        var nfc = nfc
        nfc.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        // Standard input has ended: only the desktop can click.
        let outcome = try nfc.run("demo", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        try #require(steps(outcome) == ["place", "app", "service", "tag", "notification", "app-opened", "end"])
        #expect(outcome.objects[4]["message"] == "The notification is on your desktop.")
        #expect(desktop.bodies.withLock { $0 } == ["Open “tagreader.example” in Tag Reader"])
    }

    @Test
    func `nfc demo --yes with a desktop: clicks the notification after 2 s, a dismissed one ends with status 130`()
        throws
    {
        let bus = try SessionBus()
        var nfc = nfc
        nfc.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let patient = Desktop(answer: .waits)
        try patient.start(bus.address)
        let seen = try nfc.run("demo", "--yes", "--json")
        patient.stop()
        #expect(seen.status == 0, "\(seen)")
        #expect(steps(seen) == ["place", "app", "service", "tag", "notification", "click", "app-opened", "end"])
        #expect(try #require(patient.time.withLock { $0 }) >= .seconds(2))
        for arguments in [["demo", "--json"], ["demo", "--json", "--yes"]] {
            let other = Desktop(answer: .dismisses)
            try other.start(bus.address)
            let dismissed = try nfc.run(arguments)
            other.stop()
            #expect(dismissed.status == 130)
            #expect(steps(dismissed) == ["place", "app", "service", "tag", "notification", "dismissed"])
            let last = try #require(dismissed.objects.last)
            #expect(last["ok"] == "false" && last["message"]?.contains("press Return instead") == true)
        }
        #expect(try left().isEmpty)
    }

    @Test func `nfc demo without nfcd or TagReader beside it: the message says how to build them`() throws {
        let alone = scratch.path("nfc")
        for (program, missing) in [("nfc", "nfcd"), ("nfcd", "TagReader")] {
            #expect(try TestProgram("cp").run(TestProgram(program).path, scratch.path(program)).status == 0)
            var nfc = TestProgram(alone, nfc.environment)
            nfc.environment["PATH"] = "/usr/bin:/bin"
            let outcome = try nfc.run("demo", "--yes")
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("\(missing) was not found"), "\(outcome)")
            #expect(outcome.error.hasSuffix(", or build all in a clone: swift build\n"))
        }
    }

    @Test(arguments: [
        ("failed", "service-ended", "The service has ended. There are no tags today."),
        ("not-shown", "not-shown", "There are no tags today."),
    ])
    func `nfc demo whose service ends or shows nothing: the service's last message is reported`(
        event: String,
        error: String,
        sentence: String
    ) throws {
        let words = #"{"event":"\#(event)","message":"There are no tags today."}"#
        let nfc = try copy(app: "exit 1", service: "echo '\(words)'")
        let outcome = try nfc.run("demo", "--terminal", "--json")
        #expect(outcome.status == 1)
        #expect(steps(outcome) == ["place", "app", error])
        let message = outcome.objects.last?["message"]
        #expect(message == sentence)
        #expect(try left().isEmpty)
    }

    @Test func `nfc demo, Ctrl-C while an app that ignores SIGTERM shows the message: status 130, and all is removed`()
        throws
    {
        let app = """
            [ "$1" = --plain ] || exec "$app" "$@"
            trap '' TERM
            kill -INT "$PPID"
            exec sleep 60
            """
        let outcome = try copy(app: app).run("demo", "--terminal", "--yes", "--json")
        #expect(outcome.status == 130, "\(outcome)")
        #expect(steps(outcome).suffix(2) == ["click", "cancelled"])
        #expect(try left().isEmpty)
        #expect(programs(of: scratch.path).isEmpty)
    }

    @Test func `nfc demo whose app window is closed: ends with 0, and all is removed`() throws {
        // The window is the app without a person, whose input does not end.
        let app = """
            [ "$1" = --background ] || exec "$app" "$@"
            mkfifo "$0.input"
            echo $$ > "$0.window"
            exec "$app" --plain <> "$0.input"
            """
        let demo = try TestTerminal(try copy(app: app), ["demo", "--terminal"])
        try demo.wait(for: "Press Return to click it")
        try demo.type("\n")
        try demo.wait(for: "Close the window")
        let number = try String(contentsOfFile: scratch.path("programs/TagReader.window"), encoding: .utf8)
        kill(try #require(pid_t(number.trimmingCharacters(in: .newlines))), SIGKILL)
        #expect(try demo.end() == 0)
        #expect(demo.output.contains("- Everything was removed"))
        #expect(try left().isEmpty)
    }

    @Test func `nfc demo whose sample app lacks a file: status 1, and the message names the file`() throws {
        let files = FileManager.default
        let nfc = try copy(app: "exit 1", service: "exit 1")
        let installation = scratch.path("programs/x_TagReader.resources/Installation")
        try files.removeItem(atPath: installation)
        try files.createDirectory(atPath: installation, withIntermediateDirectories: false)
        let app = "org.opencorenfc.TagReader"
        for name in ["\(app).desktop", "\(app).json", "apple-app-site-association"] {
            let outcome = try nfc.run("demo", "--terminal", "--json")
            #expect(outcome.status == 1)
            #expect(steps(outcome) == ["storage"])
            let message = outcome.objects.last?["message"]
            #expect(message?.hasSuffix("/Installation/\(name) can't be read: No such file or directory.") == true)
            #expect(try left().isEmpty)
            try files.copyItem(
                atPath: tagReaderFiles.appendingPathComponent(name).path,
                toPath: "\(installation)/\(name)"
            )
        }
    }

    @Test func `nfc demo without dbus-daemon: shows link and notification, and removes a killed demo's folder`() throws
    {
        var nfc = nfc
        nfc.environment["PATH"] = scratch.path
        let outcome = try nfc.run("demo", "--json")
        #expect(outcome.status == 1)
        try #require(steps(outcome) == ["place", "app", "link", "notification", "no-bus-daemon"])
        let objects = outcome.objects
        let lines = #"["NFC Tag Detected","Open “tagreader.example” in Tag Reader"]"#
        let notification = #""step":"notification","message":"The notification would be:","lines":\#(lines)"#
        #expect(outcome.lines[3] == #"{"ok":true,\#(notification)}"#)
        #expect(objects[4]["message"]?.contains("apt-get install dbus") == true)
        #expect(try left().isEmpty)
        // The process that waits for the end of a demonstration removes it.
        let killed = try leave()
        let watcher = try nfc.run("demo", "--take-away", killed)
        #expect(watcher.status == 0 && watcher.output == "")
        #expect(try left().isEmpty)
        // It makes no folder that is gone already.
        #expect(try nfc.run("demo", "--take-away", killed).status == 0)
        #expect(try left().isEmpty)
    }
}

/// A desktop that shows notifications.
private final class Desktop: Sendable {
    /// What its person does with each notification.
    enum Answer { case clicks, dismisses, waits }

    let bodies = Mutex<[String]>([])
    /// How long the last notification was shown; nil until it is gone.
    let time = Mutex<Duration?>(nil)
    private let answer: Answer
    private let state = Mutex((isStopped: false, isRunning: false))
    private let ended = DispatchSemaphore(value: 0)

    init(answer: Answer = .clicks) { self.answer = answer }

    func start(_ address: String) throws {
        Thread.detachNewThread { [self] in
            defer { ended.signal() }
            guard let bus = try? BusConnection(.user, address: address), let stand = try? NotificationRelay(on: bus)
            else { return }
            state.withLock { $0.isRunning = true }
            var start = ContinuousClock.now
            while !state.withLock({ $0.isStopped }) {
                for event in (try? stand.process()) ?? [] {
                    if case .closed = event { time.withLock { $0 = ContinuousClock.now - start } }
                    guard case .shown(let notification) = event else { continue }
                    start = ContinuousClock.now
                    bodies.withLock { $0.append(notification.body) }
                    switch answer {
                    case .clicks: try? stand.click(notification.number)
                    case .dismisses: try? stand.dismiss(notification.number)
                    case .waits: break
                    }
                }
                var poller = pollfd(fd: bus.descriptor, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&poller, 1, 20)
            }
        }
        waitWhile(!state.withLock({ $0.isRunning }))
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        ended.wait()
    }
}
