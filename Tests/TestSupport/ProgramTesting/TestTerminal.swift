// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A program in its own terminal, as a person uses it. It is killed with the last reference.
package final class TestTerminal {
    /// What did not come within a minute, and the screen instead.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    private let master: Int32
    private let process: pid_t
    private let folder: TestFolder?
    private var hasEnded = false
    private var bytes: [UInt8] = []
    /// What was drawn before this index was already waited for.
    private var seen = 0

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: the program.
    ///   - arguments: its arguments.
    ///   - folder: a folder that the program uses, which is kept until it has ended.
    ///   - columns: the terminal's columns.
    ///   - lines: the terminal's lines.
    package init(
        _ program: TestProgram,
        _ arguments: [String] = [],
        in folder: TestFolder? = nil,
        columns: UInt16 = 80,
        lines: UInt16 = 24
    ) throws {
        self.folder = folder
        // Swift's Glibc lacks posix_openpt and related functions: TIOCSPTLCK and TIOCGPTN of ioctl_tty(2).
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number) = (CInt(0), CUnsignedInt(0))
        guard unsafe ioctl(master, UInt(0x4004_5431), &locked) == 0,
            unsafe ioctl(master, UInt(0x8004_5430), &number) == 0
        else { throw Missing(description: "There is no terminal.") }
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        // The first terminal that the leader of a session opens is that of the session.
        let script = #"t="$1"; shift; exec "$@" <"$t" >"$t" 2>&1"#
        let words = ["sh", "-c", script, "sh", "/dev/pts/\(number)", program.path] + arguments
        // Before the start, so that the program draws its first screen at this size.
        Self.setSize(of: master, columns: columns, lines: lines)
        process = try Self.start(words, program.variables.map { "\($0)=\($1)" })
    }

    /// Starts a shell as the leader of a session, with no signal blocked.
    private static func start(_ words: [String], _ variables: [String]) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        // POSIX_SPAWN_SETSIGMASK and POSIX_SPAWN_SETSID.
        unsafe posix_spawnattr_setflags(&attributes, 0x08 | 0x80)
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var environment = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var process: pid_t = 0
        guard unsafe posix_spawn(&process, "/bin/sh", nil, &attributes, &arguments, &environment) == 0 else {
            throw Missing(description: "The program can't be started.")
        }
        return process
    }

    deinit {
        if !hasEnded {
            kill(process, SIGKILL)
            var word: Int32 = 0
            _ = unsafe waitpid(process, &word, 0)
        }
        close(master)
    }

    /// All that was written to the terminal.
    package var output: String {
        read()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The lines that were drawn since the screen was cleared last, without colours.
    package var screen: [String] {
        let drawn = output.components(separatedBy: "\u{1B}[H\u{1B}[J").last ?? ""
        let plain = drawn.replacing(/\u{1B}\[[0-9;?]*[a-zA-Z]/, with: "")
        // The terminal adds a carriage return before each line feed.
        return plain.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(String.UnicodeScalarView(line.filter { $0 != "\r" }))
        }
    }

    /// Waits for a text that is new on the terminal.
    package func wait(for text: String) throws {
        try wait("“\(text)”") {
            guard let range = Data(bytes).dropFirst(seen).range(of: Data(text.utf8)) else { return false }
            seen = range.upperBound
            return true
        }
    }

    /// Waits until the screen is as it should be.
    ///
    /// - Parameter what: says in a failure what did not come.
    package func wait(_ what: String, until isRight: () -> Bool) throws {
        for _ in 0..<12_000 {
            read()
            if isRight() { return }
            usleep(5_000)
        }
        throw Missing(description: "\(what) did not appear. The screen:\n\(screen.joined(separator: "\n"))")
    }

    package func type(_ keys: String) throws {
        let count = unsafe Array(keys.utf8).withUnsafeBytes { unsafe write(master, $0.baseAddress, $0.count) }
        guard count == keys.utf8.count else { throw Missing(description: "The keys were not taken.") }
    }

    /// Whether keys come line by line, and are shown: the settings of a terminal at rest.
    package var isAtRest: Bool {
        var settings = termios()
        guard unsafe tcgetattr(master, &settings) == 0 else { return false }
        let flags = tcflag_t(ICANON | ECHO | ISIG)
        return settings.c_lflag & flags == flags
    }

    package func resize(columns: UInt16, lines: UInt16) { Self.setSize(of: master, columns: columns, lines: lines) }

    private static func setSize(of master: Int32, columns: UInt16, lines: UInt16) {
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Sends the program a signal.
    package func send(_ signal: Int32) { kill(process, signal) }

    /// Waits for the end.
    ///
    /// - Returns: the exit status, or the number of the signal that ended the program, negated.
    package func end() throws -> Int32 {
        var word: Int32 = 0
        try wait("The program's end") { unsafe waitpid(process, &word, WNOHANG) == process }
        hasEnded = true
        read()
        return word & 0x7F == 0 ? word >> 8 & 0xFF : -(word & 0x7F)
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
