// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// The controlling terminal. It is opened separately, so that standard input and output may be something else.
struct Terminal: Sendable {
    /// Columns and lines.
    struct Size: Sendable, Equatable {
        var columns: Int
        var lines: Int
    }

    let fileDescriptor: Int32

    /// Opens the controlling terminal.
    ///
    /// - Returns: nil when there is none, or when the process is in the background, where changing the terminal would
    ///   stop it.
    static func open(path: String = "/dev/tty") -> Terminal? {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        let terminal = Terminal(fileDescriptor: descriptor)
        guard isatty(descriptor) == 1, terminal.isInForeground else {
            terminal.close()
            return nil
        }
        return terminal
    }

    /// Whether typed keys are for this process. That is always so for a terminal that does not control the process,
    /// such as a test's.
    private var isInForeground: Bool {
        let group = tcgetpgrp(fileDescriptor)
        return group == -1 || group == getpgrp()
    }

    func close() {
        _ = Glibc.close(fileDescriptor)
    }

    /// The current size; 80 by 24 when the terminal does not know it.
    var size: Size {
        var size = winsize()
        guard unsafe ioctl(fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(columns: 80, lines: 24)
        }
        return Size(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    /// Makes the terminal pass each key, including Ctrl-C, without echo. Reads then never block.
    ///
    /// - Returns: the settings to restore.
    func enterRawMode() -> termios? {
        var saved = termios()
        guard unsafe tcgetattr(fileDescriptor, &saved) == 0 else { return nil }
        var raw = saved
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        raw.c_iflag &= ~tcflag_t(IXON)
        setControlCharacter(VMIN, to: 0, in: &raw)
        setControlCharacter(VTIME, to: 0, in: &raw)
        guard unsafe tcsetattr(fileDescriptor, TCSANOW, &raw) == 0 else { return nil }
        return saved
    }

    /// Restores settings.
    func leaveRawMode(_ saved: termios) {
        var saved = saved
        _ = unsafe tcsetattr(fileDescriptor, TCSANOW, &saved)
    }

    /// Whether nobody is at the other end any more. Then nothing can be read or set.
    var isHungUp: Bool { isatty(fileDescriptor) != 1 }

    /// Returns the keys that were typed since the last call. Use it only in raw mode; otherwise it blocks.
    func readKeys() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe Glibc.read(fileDescriptor, bytes.baseAddress, bytes.count)
        }
        return count > 0 ? Array(buffer[..<count]) : []
    }

    func write(_ text: String) {
        OutputDescriptor(fileDescriptor).write(text)
    }

    /// Sets a control character. This needs a function because `c_cc` is a tuple in Swift.
    private func setControlCharacter(_ index: Int32, to value: cc_t, in settings: inout termios) {
        unsafe withUnsafeMutableBytes(of: &settings.c_cc) { unsafe $0[Int(index)] = value }
    }
}
