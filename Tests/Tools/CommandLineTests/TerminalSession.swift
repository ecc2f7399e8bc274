// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemLibrary
import Testing

/// A program in its own terminal, as a person uses it. It is killed with the last reference.
final class TerminalSession {
    private let master: Int32
    private let process: Int32
    private var status: Int32?
    private var bytes: [UInt8] = []
    /// The text before this index was already checked.
    private var seen = 0

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - command: the program and its variables.
    ///   - arguments: its arguments.
    ///   - columns: the terminal's columns.
    ///   - lines: the terminal's lines.
    init(_ command: Command, _ arguments: [String] = [], columns: UInt16 = 80, lines: UInt16 = 24) throws {
        // Swift's Glibc lacks posix_openpt and related functions. This does the same.
        let master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number) = (CInt(0), CUnsignedInt(0))
        let (unlock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
        let isOpen = unsafe ioctl(master, unlock, &locked) == 0 && ioctl(master, getNumber, &number) == 0
        try #require(isOpen)
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
        self.master = master
        // The first terminal that the leader of a session opens is that of the session.
        let script = #"t="$1"; shift; exec "$@" <"$t" >"$t" 2>&1"#
        var launch = ProgramLaunch(
            "/bin/sh",
            ["sh", "-c", script, "sh", "/dev/pts/\(number)", command.path] + arguments
        )
        launch.environment = command.variables
        launch.separation = .session
        process = try launch.start()
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
    }

    deinit {
        if status == nil {
            kill(process, SIGKILL)
            var word: Int32 = 0
            _ = unsafe waitpid(process, &word, 0)
        }
        close(master)
    }

    /// All that was written to the terminal.
    var output: String {
        read()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What stands on the full screen: what was drawn since it was cleared last, without colours.
    var screen: [String] {
        let drawn = output.components(separatedBy: "\u{1B}[H\u{1B}[J").last ?? ""
        let plain = drawn.replacing(/\u{1B}\[[0-9;?]*[a-zA-Z]/, with: "")
        // The terminal puts one more return before each line feed.
        return plain.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(String.UnicodeScalarView(line.filter { $0 != "\r" }))
        }
    }

    /// Waits for a text that is new on the terminal.
    func wait(for text: String) throws {
        for _ in 0..<6000 {
            read()
            if let range = Data(bytes).dropFirst(seen).range(of: Data(text.utf8)) {
                seen = range.upperBound
                return
            }
            usleep(10_000)
        }
        try #require(Bool(false), "\(text) did not appear: \(screen.joined(separator: "\n"))")
    }

    /// Waits until what stands on the full screen is as it should be.
    func wait(until isMeant: ([String]) -> Bool) throws {
        for _ in 0..<6000 {
            if isMeant(screen) {
                // Read everything that was drawn.
                let count = bytes.count
                usleep(20_000)
                read()
                if bytes.count == count { return }
            } else {
                usleep(10_000)
            }
        }
        try #require(Bool(false), "It did not come to this: \(screen.joined(separator: "\n"))")
    }

    /// Types.
    func type(_ keys: String) throws {
        let count = unsafe Array(keys.utf8).withUnsafeBytes { unsafe write(master, $0.baseAddress, $0.count) }
        try #require(count == keys.utf8.count)
    }

    /// Waits for a text that is new, and types.
    func type(_ keys: String, at text: String) throws {
        try wait(for: text)
        try type(keys)
    }

    /// Whether keys come line by line, and are shown: the settings of a terminal at rest.
    var isAtRest: Bool {
        var settings = termios()
        guard unsafe tcgetattr(master, &settings) == 0 else { return false }
        let flags = tcflag_t(ICANON | ECHO | ISIG)
        return settings.c_lflag & flags == flags
    }

    /// Gives the terminal another size.
    func resize(columns: UInt16, lines: UInt16) {
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Sends the program a signal.
    func send(_ signal: Int32) { kill(process, signal) }

    /// Waits for the end.
    ///
    /// - Returns: the exit status, or the number of the signal that ended the program, negated.
    func end() throws -> Int32 {
        for _ in 0..<6000 {
            read()
            var word: Int32 = 0
            if unsafe waitpid(process, &word, WNOHANG) == process {
                read()
                let status = word & 0x7F == 0 ? word >> 8 & 0xFF : -(word & 0x7F)
                self.status = status
                return status
            }
            usleep(10_000)
        }
        try #require(Bool(false), "The program did not end: \(screen.joined(separator: "\n"))")
        return -1
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(master, &buffer, buffer.count)
            guard count > 0 else { return }
            bytes += buffer[..<count]
        }
    }
}
