// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// A serial line whose other end is a test's.
package final class PseudoTerminal: Sendable {
    /// There are no pseudo-terminals.
    struct Missing: Error {}

    /// The path that a driver opens.
    package let path: String
    /// The test's end.
    package let controller: Int32
    /// The driver's end, kept open so that the line lives on when the driver closes it.
    private let terminal: Int32

    // TIOCSPTLCK and TIOCGPTN, whose macros Swift does not see.
    private static let unlock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// Creates a line.
    package init() throws {
        let controller = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard controller >= 0 else { throw Missing() }
        var number: CInt = 0
        var lock: CInt = 0
        guard unsafe ioctl(controller, Self.unlock, &lock) == 0 else { throw Missing() }
        guard unsafe ioctl(controller, Self.getNumber, &number) == 0 else { throw Missing() }
        path = "/dev/pts/\(number)"
        let terminal = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { throw Missing() }
        var settings = termios()
        _ = unsafe tcgetattr(terminal, &settings)
        unsafe cfmakeraw(&settings)
        _ = unsafe tcsetattr(terminal, TCSANOW, &settings)
        // A line that is full does not hold the test up.
        _ = fcntl(controller, F_SETFL, O_NONBLOCK)
        self.controller = controller
        self.terminal = terminal
    }

    /// What came; nil when nothing came in time, nothing at all when the line is gone.
    package func read(milliseconds: Int32) -> [UInt8]? {
        var polled = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&polled, 1, milliseconds) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Glibc.read(controller, &buffer, buffer.count)
        return Array(buffer.prefix(max(0, count)))
    }

    package func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(controller, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends bytes, as many as the line takes, when it takes any in time.
    package func write(_ bytes: [UInt8], milliseconds: Int32) {
        var polled = pollfd(fd: controller, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&polled, 1, milliseconds) > 0 else { return }
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(controller, $0.baseAddress, $0.count) }
    }

    /// How the driver has set the line.
    package var settings: termios {
        var settings = termios()
        _ = unsafe tcgetattr(controller, &settings)
        return settings
    }

    /// Unplugs the line.
    package func close() {
        Glibc.close(terminal)
        Glibc.close(controller)
    }
}
