// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A terminal window on the desktop that runs the app. The terminal is that of `xdg-terminal-exec` or `TERMINAL`, or the
/// desktop's own, or the first that is installed.
struct TerminalWindow {
    /// How long a window may take to open, for all terminals together. The program that starts the app waits 20 seconds.
    private static let limit = Duration.seconds(10)

    private let environment = ProcessInfo.processInfo.environment

    /// The option by which each terminal runs a command.
    private static let terminals: [(program: String, option: [String], desktop: String?)] = [
        ("ptyxis", ["--"], "GNOME"), ("kgx", ["--"], "GNOME"), ("gnome-terminal", ["--"], "GNOME"),
        ("konsole", ["-e"], "KDE"), ("xfce4-terminal", ["-x"], "XFCE"), ("mate-terminal", ["-x"], "MATE"),
        ("lxterminal", ["-e"], "LXDE"), ("qterminal", ["-e"], "LXQt"), ("cosmic-term", ["-e"], "COSMIC"),
        ("x-terminal-emulator", ["-e"], nil), ("foot", [], nil), ("kitty", [], nil), ("alacritty", ["-e"], nil),
        ("wezterm", ["start", "--"], nil), ("ghostty", ["-e"], nil), ("urxvt", ["-e"], nil), ("st", ["-e"], nil),
        ("xterm", ["-e"], nil),
    ]

    /// Opens a window, and waits until the app in it runs.
    ///
    /// - Parameter isThere: whether the app runs.
    /// - Returns: false when no terminal could be opened.
    func open(isThere: @Sendable () -> Bool) async -> Bool {
        if isThere() { return true }
        guard hasDesktop else { return false }
        let clock = ContinuousClock()
        let end = clock.now + Self.limit
        for command in commands where clock.now < end {
            guard let terminal = start(command) else { continue }
            while clock.now < end {
                try? await Task.sleep(for: .milliseconds(50))
                if isThere() { return true }
                // A terminal that ends with status 0 may have passed the command to another process.
                if !terminal.isRunning, terminal.terminationStatus != 0 { break }
            }
        }
        return false
    }

    private var hasDesktop: Bool {
        ["WAYLAND_DISPLAY", "DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
    }

    /// The terminals to try, each with its option for a command.
    private var commands: [[String]] {
        var commands = [["xdg-terminal-exec"]]
        if let own = environment["TERMINAL"], !own.isEmpty { commands.append([own, "-e"]) }
        let desktops = (environment["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").map { $0.lowercased() }
        let isOwn = { (desktop: String?) in desktop.map { desktops.contains($0.lowercased()) } ?? false }
        let own = Self.terminals.filter { isOwn($0.desktop) }
        let others = Self.terminals.filter { !isOwn($0.desktop) }
        return commands + (own + others).map { [$0.program] + $0.option }
    }

    private func start(_ command: [String]) -> Process? {
        guard let name = command.first, let path = path(of: name) else { return nil }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        let app = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        process.arguments = command.dropFirst() + [app]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.runWithoutBlockedSignals()) != nil else { return nil }
        return process
    }

    /// The path of a program; a bare name is looked up in the folders of `PATH`.
    private func path(of name: String) -> String? {
        let isProgram = FileManager.default.isExecutableFile(atPath:)
        guard !name.contains("/") else { return name.hasPrefix("/") && isProgram(name) ? name : nil }
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        return folders.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first(where: isProgram)
    }
}

extension Process {
    /// Starts the program with no signal blocked. It inherits those of the calling thread, and threads of a pool block
    /// SIGINT: Ctrl-C in the window would do nothing.
    fileprivate func runWithoutBlockedSignals() throws {
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}
