// SPDX-License-Identifier: Apache-2.0
import Foundation
import UserActivityReceiving

/// The app as the system starts it for a card. It opens a window, which then receives the message. Without a desktop it
/// saves the messages itself and writes them to standard output. It ends when no message has come for a minute, or when a
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

/// A terminal window on the desktop that runs the app: that of `xdg-terminal-exec` or `TERMINAL`, or the first that is
/// installed.
struct TerminalWindow {
    /// How long a window may take to open, for all terminals together. The program that starts the app waits 20 seconds.
    private static let limit = Duration.seconds(10)

    /// Terminals, each with its option for a command.
    private static let terminals = [
        ["x-terminal-emulator", "-e"], ["ptyxis", "--"], ["gnome-terminal", "--"], ["konsole", "-e"],
        ["xfce4-terminal", "-x"], ["foot"], ["kitty"], ["alacritty", "-e"], ["xterm", "-e"],
    ]

    private let environment = ProcessInfo.processInfo.environment

    /// Opens a window, and waits until the app in it runs. Returns false when no terminal could be opened.
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
        // It ends with a failure for a program that does not exist.
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command + [URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // A program inherits the blocked signals of the thread that starts it. Threads of a pool block SIGINT, so Ctrl-C in
        // the window would do nothing.
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        return (try? process.run()).map { process }
    }
}
