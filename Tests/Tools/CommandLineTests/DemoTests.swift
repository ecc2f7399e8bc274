// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import TestThreads
import Testing
import UserBus

@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"))
struct `nfc demo` {
    private let scratch: ScratchFolder
    private var nfc: Command

    init() throws {
        scratch = try ScratchFolder()
        // A socket's path is short.
        nfc = Command(
            name: "nfc",
            environment: ["TMPDIR": scratch.path(""), "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere", "TERM": "dumb"]
        )
    }

    /// What the demonstration left in its folder for temporary files.
    private func left() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path("")).filter { $0.hasPrefix("nfc-demo") }
    }

    /// The programs of a demonstration that still run.
    private func programs(of folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).filter { process in
            guard Int(process) != nil, let data = FileManager.default.contents(atPath: "/proc/\(process)/environ")
            else { return false }
            return String(decoding: data, as: UTF8.self).contains("NFC_DEMO=\(folder)")
        }
    }

    private func steps(_ outcome: Command.Outcome) throws -> [String] {
        try outcome.objects().map { $0["step"] as? String ?? $0["error"] as? String ?? "" }
    }

    /// Writes a program of a test's own.
    ///
    /// - Parameter script: its lines. In them, `$app` is the sample app.
    private func write(_ path: String, _ script: String) throws {
        let text = "#!/bin/sh\napp='\(Command(name: "TagReader").path)'\n\(script)\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// A copy of nfc, in the folder `programs`, which finds programs of a test's own beside it.
    ///
    /// - Parameters:
    ///   - app: what the program in place of the sample app does.
    ///   - service: what the program in place of the service does; nil for the service itself.
    private func copy(app: String, service: String? = nil) throws -> Command {
        let files = FileManager.default
        let folder = scratch.path("programs")
        try files.createDirectory(atPath: folder + "/x_TagReader.resources", withIntermediateDirectories: true)
        try files.createSymbolicLink(
            atPath: folder + "/x_TagReader.resources/Installation",
            withDestinationPath: User.tagReaderFiles.path
        )
        try write(folder + "/TagReader", app)
        if let service {
            try write(folder + "/nfcd", service)
        } else {
            let path = Command(name: "nfcd").path
            try files.createSymbolicLink(atPath: folder + "/nfcd", withDestinationPath: path)
        }
        try #require(try Command(name: "cp").run(Command(name: "nfc").path, folder).status == 0)
        return Command(name: folder + "/nfc", environment: nfc.environment)
    }

    /// Makes a folder as a demonstration leaves it that was killed.
    private func leave() throws -> String {
        let path = scratch.path("nfc-demo.killed")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: path + "/lock"))
        return path
    }

    @Test func `Without a desktop it goes from the tag to the message in the app, and takes all of it away`() throws {
        let outcome = try nfc.run("demo", "--yes", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        let objects = try outcome.objects()
        #expect(
            try steps(outcome) == [
                "place", "app", "no-desktop", "service", "tag", "notification", "click", "app-opened", "end",
            ]
        )
        let shown = try #require(objects[5]["lines"] as? [String])
        #expect(shown == ["NFC Tag Detected", "Open “tagreader.example” in Tag Reader"])
        let message = try #require(objects[7]["lines"] as? [String])
        #expect(message.contains("  Payload     Link: https://tagreader.example/welcome"))
        #expect(message.contains("  Payload     Text (en): Welcome to the demonstration."))
        #expect(try left().isEmpty)
        #expect(programs(of: scratch.path("")).isEmpty)
    }

    @Test func `Return clicks, and input that ends before it does not`() throws {
        let clicked = try nfc.run("demo", "--terminal", input: "\n")
        #expect(clicked.status == 0, "\(clicked)")
        #expect(clicked.lines.contains("  Press Return to click it; Ctrl-C ends."))
        #expect(clicked.lines.contains("    NFC Tag Detected") && clicked.error == "")
        #expect(clicked.lines.last == "- Everything is removed again: the service, the bus, the app and the folder.")
        let ended = try nfc.run("demo", "--terminal", "--json")
        #expect(ended.status == 1)
        #expect(try steps(ended).last == "no-click")
        #expect(ended.error == "  Press Return to click it; Ctrl-C ends.\n")
        #expect(try left().isEmpty)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `A signal ends it, with nothing left`(signal: Int32) throws {
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
    func `Where standard output can't be written it ends with that sentence and 1, and takes all away`(
        arguments: String,
        output: (redirection: String, reason: String)
    ) throws {
        let script = "'\(nfc.path)' demo \(arguments) \(output.redirection)"
        let outcome = try Command(name: "bash", environment: nfc.environment).run("-c", script)
        #expect(outcome.error == "Error: Standard output can't be written: \(output.reason).\n")
        #expect(outcome.status == 1)
        #expect(try left().isEmpty)
        #expect(programs(of: scratch.path("")).isEmpty)
    }

    @Test func `When nobody reads what it says any more it ends without a word, and takes all away`() throws {
        let script = "'\(nfc.path)' demo --yes | head -n 1; exit ${PIPESTATUS[0]}"
        let outcome = try Command(name: "bash", environment: nfc.environment).run("-c", script)
        #expect(outcome.lines.count == 1)
        #expect(outcome.error == "")
        #expect(outcome.status == 128 + SIGPIPE)
        #expect(try left().isEmpty)
    }

    @Test func `On a desktop the notification is shown there, and a click there opens the app`() throws {
        let folder = try ScratchFolder()
        let bus = try Bus(folder.path(""))
        let desktop = Desktop()
        try desktop.start(bus.address)
        defer { desktop.stop() }
        var nfc = nfc
        nfc.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        // Standard input has ended: only the desktop can click.
        let outcome = try nfc.run("demo", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try steps(outcome) == ["place", "app", "service", "tag", "notification", "app-opened", "end"])
        #expect(try outcome.objects()[4]["message"] as? String == "The notification is on your desktop.")
        #expect(desktop.bodies.withLock { $0 } == ["Open “tagreader.example” in Tag Reader"])
    }

    @Test func `On a desktop a person has time to see the notification before it is clicked, and may dismiss it`()
        throws
    {
        let folder = try ScratchFolder()
        let bus = try Bus(folder.path(""))
        var nfc = nfc
        nfc.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let patient = Desktop(answer: .waits)
        try patient.start(bus.address)
        let seen = try nfc.run("demo", "--yes", "--json")
        patient.stop()
        #expect(seen.status == 0, "\(seen)")
        #expect(try steps(seen) == ["place", "app", "service", "tag", "notification", "click", "app-opened", "end"])
        #expect(try #require(patient.time.withLock { $0 }) >= .seconds(2))
        for arguments in [["demo", "--json"], ["demo", "--json", "--yes"]] {
            let other = Desktop(answer: .dismisses)
            try other.start(bus.address)
            let dismissed = try nfc.run(arguments)
            other.stop()
            #expect(dismissed.status == 130)
            #expect(try steps(dismissed) == ["place", "app", "service", "tag", "notification", "dismissed"])
            let last = try #require(try dismissed.objects().last)
            #expect(last["ok"] as? Bool == false)
            #expect((last["message"] as? String)?.contains("press Return instead") == true)
        }
        #expect(try left().isEmpty)
    }

    @Test func `Alone in a folder it names the one command that builds all that it needs`() throws {
        let alone = scratch.path("nfc")
        for (program, missing) in [("nfc", "nfcd"), ("nfcd", "TagReader")] {
            #expect(try Command(name: "cp").run(Command(name: program).path, scratch.path(program)).status == 0)
            var nfc = Command(name: alone, environment: nfc.environment)
            nfc.environment["PATH"] = "/usr/bin:/bin"
            let outcome = try nfc.run("demo", "--yes")
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("There is no \(missing) beside nfc"), "\(outcome)")
            #expect(outcome.error.hasSuffix("Build what the demonstration needs: swift build\n"))
        }
    }

    @Test(arguments: [
        ("failed", "service-ended", "The service has ended. There are no tags today."),
        ("not-shown", "not-shown", "There are no tags today."),
    ])
    func `When the service ends or shows nothing it says so with the service's last words`(
        event: String,
        error: String,
        sentence: String
    ) throws {
        let words = #"{"event":"\#(event)","message":"There are no tags today."}"#
        let nfc = try copy(app: "exit 1", service: "echo '\(words)'")
        let outcome = try nfc.run("demo", "--terminal", "--json")
        #expect(outcome.status == 1)
        #expect(try steps(outcome) == ["place", "app", error])
        let message = try outcome.objects().last?["message"] as? String
        #expect(message == sentence)
        #expect(try left().isEmpty)
    }

    @Test func `Ctrl-C ends it while the app shows the message, too, and an app that would not end`() throws {
        let app = """
            [ "$1" = --plain ] || exec "$app" "$@"
            trap '' TERM
            kill -INT "$PPID"
            exec sleep 60
            """
        let outcome = try copy(app: app).run("demo", "--terminal", "--yes", "--json")
        #expect(outcome.status == 130, "\(outcome)")
        #expect(try steps(outcome).suffix(2) == ["click", "cancelled"])
        #expect(try left().isEmpty)
        #expect(programs(of: scratch.path("")).isEmpty)
    }

    @Test func `It ends when the window of the app is closed`() throws {
        // The window is the app without a person, whose input does not end.
        let app = """
            [ "$1" = --background ] || exec "$app" "$@"
            mkfifo "$0.input"
            echo $$ > "$0.window"
            exec "$app" --plain <> "$0.input"
            """
        let demo = try TerminalSession(try copy(app: app), ["demo", "--terminal"])
        try demo.type("\n", at: "Press Return to click it")
        try demo.wait(for: "Close the window")
        let number = try String(contentsOfFile: scratch.path("programs/TagReader.window"), encoding: .utf8)
        kill(try #require(pid_t(number.trimmingCharacters(in: .newlines))), SIGKILL)
        #expect(try demo.end() == 0)
        #expect(demo.output.contains("- Everything is removed again"))
        #expect(try left().isEmpty)
    }

    @Test func `A sample app without one of its files is refused with the first that is missing`() throws {
        let files = FileManager.default
        let nfc = try copy(app: "exit 1", service: "exit 1")
        let installation = scratch.path("programs/x_TagReader.resources/Installation")
        try files.removeItem(atPath: installation)
        try files.createDirectory(atPath: installation, withIntermediateDirectories: false)
        let app = "org.opencorenfc.TagReader"
        for name in ["\(app).desktop", "\(app).json", "apple-app-site-association"] {
            let outcome = try nfc.run("demo", "--terminal", "--json")
            #expect(outcome.status == 1)
            #expect(try steps(outcome) == ["storage"])
            let message = try outcome.objects().last?["message"] as? String
            #expect(message?.hasSuffix("/Installation/\(name) can't be read: No such file or directory.") == true)
            #expect(try left().isEmpty)
            try files.copyItem(
                atPath: User.tagReaderFiles.appendingPathComponent(name).path,
                toPath: "\(installation)/\(name)"
            )
        }
    }

    @Test func `Without dbus-daemon it shows what it can, says what to install, and removes what a killed one left`()
        throws
    {
        var nfc = nfc
        nfc.environment["PATH"] = scratch.path("")
        let killed = try leave()
        let outcome = try nfc.run("demo", "--json")
        #expect(outcome.status == 1)
        #expect(try steps(outcome) == ["leftovers", "place", "app", "link", "notification", "no-bus-daemon"])
        let objects = try outcome.objects()
        #expect((objects[0]["message"] as? String)?.hasSuffix("Its folder is removed: \(killed)") == true)
        let lines = #"["NFC Tag Detected","Open “tagreader.example” in Tag Reader"]"#
        let notification = #""step":"notification","message":"The notification would be:","lines":\#(lines)"#
        #expect(outcome.lines[4] == #"{"ok":true,\#(notification)}"#)
        #expect((objects[5]["message"] as? String)?.contains("apt-get install dbus") == true)
        #expect(try left().isEmpty)
        // The process that waits for the end of a demonstration does the same.
        let watcher = try nfc.run("demo", "--take-away", leave())
        #expect(watcher.status == 0 && watcher.output == "")
        #expect(try left().isEmpty)
        // It makes no folder that is gone already.
        #expect(try nfc.run("demo", "--take-away", killed).status == 0)
        #expect(try left().isEmpty)
    }

    @Test func `Its programs find the display of the desktop, and no reader and no files of the person`() throws {
        var nfc = nfc
        nfc.environment["PATH"] = scratch.path("")
        nfc.environment["XDG_RUNTIME_DIR"] = "/run/user/7"
        nfc.environment["WAYLAND_DISPLAY"] = "wayland-7"
        nfc.environment["NFC_READER"] = "pcsc"
        try write(scratch.path("dbus-daemon"), "/usr/bin/env > '\(scratch.path("variables"))'")
        let outcome = try nfc.run("demo", "--json")
        let folder = try #require((try outcome.objects().first?["message"] as? String)?.split(separator: " ").last)
        let variables = try String(contentsOfFile: scratch.path("variables"), encoding: .utf8).split(separator: "\n")
        for variable in [
            "WAYLAND_DISPLAY=/run/user/7/wayland-7", "XDG_RUNTIME_DIR=\(folder)/run", "XDG_DATA_HOME=\(folder)/data",
            "NFC_READER=virtual",
        ] {
            #expect(variables.contains(Substring(variable)), "\(variables)")
        }
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
    private let state = Mutex((isStopped: false, isThere: false))
    private let ended = DispatchSemaphore(value: 0)

    init(answer: Answer = .clicks) { self.answer = answer }

    func start(_ address: String) throws {
        Thread.detachNewThread { [self] in
            defer { ended.signal() }
            guard let bus = try? BusConnection(.user, address: address), let stand = try? NotificationStand(on: bus)
            else {
                return
            }
            state.withLock { $0.isThere = true }
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
        waitWhile(!state.withLock({ $0.isThere }))
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        ended.wait()
    }
}
