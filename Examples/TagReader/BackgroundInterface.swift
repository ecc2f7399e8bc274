// SPDX-License-Identifier: Apache-2.0
import Foundation
import UserActivityReceiving

/// Runs when the system starts the app for a card. Opens a window, which then receives the message. Without a desktop,
/// saves the messages and writes them to standard output. Ends when no message has arrived for a minute, or when a
/// window takes over.
@MainActor
final class BackgroundInterface {
    private let reader: MessageReader
    private var received = 0

    init(_ reader: MessageReader) { self.reader = reader }

    /// Returns the exit status.
    func run() async -> Int32 {
        if await TerminalWindow().open() { return 0 }
        if let problem = reader.store.load() { complain(problem) }
        let links = LinkReceiver(reader, isVisible: false) { [self] number in
            received += 1
            if let message = reader.store.message(number) {
                say(MessageText.lines(of: message).joined(separator: "\n"))
            }
        }
        links.begin(onEnd: { exit(0) })
        // A window that opened late receives the links.
        if links.state == .elsewhere { return 0 }
        if case .nobody(let reason) = links.state {
            complain(reason)
            return 1
        }
        var before: Int
        repeat {
            before = received
            try? await Task.sleep(for: .seconds(60))
        } while received != before
        return withExtendedLifetime(links) { 0 }
    }
}

/// Opens a terminal window that runs the app. Uses `xdg-terminal-exec`, the program in `TERMINAL`, or the first
/// terminal that is installed.
struct TerminalWindow {
    /// How long opening a window may take, for all terminals. The program that starts the app waits 20 seconds.
    private static let limit = Duration.seconds(10)

    /// The supported terminals, each with the option that makes it run a command.
    private static let terminals = [
        ["x-terminal-emulator", "-e"], ["ptyxis", "--"], ["gnome-terminal", "--"], ["konsole", "-e"],
        ["xfce4-terminal", "-x"], ["foot"], ["kitty"], ["alacritty", "-e"], ["xterm", "-e"],
    ]

    private let environment = ProcessInfo.processInfo.environment

    /// Opens a window, and waits until the app runs in it. Returns false if no terminal could be opened.
    func open() async -> Bool {
        let isRunning = { Application.isRunning(as: LinkReceiver.desktopID) }
        if isRunning() { return true }
        guard ["WAYLAND_DISPLAY", "DISPLAY"].contains(where: { !(environment[$0] ?? "").isEmpty }) else { return false }
        let own = environment["TERMINAL"].flatMap { $0.isEmpty ? nil : [$0, "-e"] }
        let end = ContinuousClock.now + Self.limit
        for command in [["xdg-terminal-exec"]] + (own.map { [$0] } ?? []) + Self.terminals {
            guard ContinuousClock.now < end, let terminal = start(command) else { continue }
            while ContinuousClock.now < end {
                try? await Task.sleep(for: .milliseconds(50))
                if isRunning() { return true }
                // A terminal that ends with status 0 may have passed the command to another process.
                if !terminal.isRunning, terminal.terminationStatus != 0 { break }
            }
        }
        return false
    }

    private func start(_ command: [String]) -> Process? {
        let process = Process()
        // If the program does not exist, `env` ends with a failure.
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command + [URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // A new program inherits the signal mask of the thread that starts it. Thread-pool threads block SIGINT, so
        // Ctrl-C in the window would do nothing.
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        return (try? process.run()).map { process }
    }
}
