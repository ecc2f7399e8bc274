// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary

/// A terminal that the test sees from the other side.
final class PseudoTerminal {
    let master: Int32
    let path: String

    init?(columns: UInt16 = 60, lines: UInt16 = 24) {
        // Swift's Glibc lacks posix_openpt and related functions. This does the same.
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number) = (CInt(0), CUnsignedInt(0))
        let (unlock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
        guard master >= 0, unsafe ioctl(master, unlock, &locked) == 0, unsafe ioctl(master, getNumber, &number) == 0
        else { return nil }
        path = "/dev/pts/\(number)"
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    deinit { _ = close(master) }

    func type(_ keys: String) { OutputDescriptor(master).write(keys) }

    /// What has been drawn since the last call.
    func screen() -> String {
        var bytes: [UInt8] = []
        var poller = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while unsafe poll(&poller, 1, 100) > 0, poller.revents & Int16(POLLIN) != 0 {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(master, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        // The terminal itself adds a carriage return before each line feed, so they are all left out.
        return String(decoding: bytes.filter { $0 != 0x0D }, as: UTF8.self)
    }

    var settings: termios {
        var settings = termios()
        _ = unsafe tcgetattr(master, &settings)
        return settings
    }

    /// Whether the terminal echoes and collects lines, as a shell leaves it.
    var isCooked: Bool { settings.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON) }
}
