// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// A serial line to a chip, with 8 data bits, no parity, one stop bit, no flow control, and no translation.
///
/// The methods block, so use them on a separate thread. Every wait has a time limit and can be cancelled.
final class SerialPort {
    /// The line's path, such as `/dev/ttyUSB0`.
    let path: String
    private let descriptor: Int32
    private let interrupt: Interrupt
    /// The cancellation of the operation that is using the line. It ends the operation's reads.
    var cancellation: Cancellation?

    /// Opens a line for this program only. Throws `LinkError` with `readerUnavailable` and a reason.
    init(path: String, speed: SerialSpeed, interrupt: Interrupt) throws(LinkError) {
        let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        var code = descriptor < 0 ? errno : 0
        if code == 0, isatty(descriptor) != 1 { code = ENOTTY }
        // Programs that share a line would read each other's answers.
        if code == 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0 { code = errno }
        if code == 0 { code = Self.configure(descriptor, speed) }
        guard code == 0 else {
            if descriptor >= 0 { close(descriptor) }
            let ownership = SerialPortError.ownership(of: path)
            let reason = SerialPortError.reason(path: path, code: code, ownership: ownership)
            throw LinkError(.readerUnavailable, reason)
        }
        self.path = path
        self.descriptor = descriptor
        self.interrupt = interrupt
    }

    deinit {
        // A child program that is just starting may still have the descriptor open, and would keep the line locked.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Changes the speed after all written bytes were sent.
    func setSpeed(_ speed: SerialSpeed) throws(LinkError) {
        _ = tcdrain(descriptor)
        let code = Self.configure(descriptor, speed)
        guard code == 0 else {
            throw LinkError(.readerUnavailable, SerialPortError.reason(path: path, code: code, ownership: nil))
        }
    }

    private static func configure(_ descriptor: Int32, _ speed: SerialSpeed) -> Int32 {
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return errno }
        unsafe cfmakeraw(&settings)
        settings.c_cflag &= ~(tcflag_t(CSTOPB) | tcflag_t(CRTSCTS) | tcflag_t(HUPCL))
        settings.c_cflag |= tcflag_t(CLOCAL) | tcflag_t(CREAD)
        guard unsafe cfsetspeed(&settings, speed_t(speed.codes.system)) == 0,
            unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0,
            tcflush(descriptor, TCIOFLUSH) == 0
        else { return errno }
        return 0
    }

    /// Sends all bytes. Throws `LinkError` with `readerUnavailable` when the line is gone, or does not accept the bytes
    /// in time.
    func write(_ bytes: [UInt8], before deadline: ContinuousClock.Instant) throws(LinkError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            if count > 0 {
                written += count
            } else if count < 0, errno == EAGAIN {
                // A write has a short time limit, so it is not cancelled.
                guard try wait(for: POLLOUT, before: deadline, nil) else {
                    throw LinkError(.readerUnavailable, "\(path) accepts no data: the adapter hangs. Plug it in again.")
                }
            } else if count == 0 || errno != EINTR {
                throw SerialPortError.gone(path)
            }
        }
    }

    /// Waits for bytes. Returns the received bytes; empty when none arrive in time. Throws `LinkError` with
    /// `readerUnavailable` when the line is gone, or with `cancelled`.
    func read(before deadline: ContinuousClock.Instant?) throws(LinkError) -> [UInt8] {
        while true {
            if cancellation?.isCancelled == true { throw SerialPortError.cancelled }
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                buffer.removeSubrange(count...)
                return buffer
            }
            guard count < 0, errno == EAGAIN || errno == EINTR else { throw SerialPortError.gone(path) }
            if errno == EAGAIN {
                guard try wait(for: POLLIN, before: deadline, cancellation) else { return [] }
            }
        }
    }

    /// Discards received bytes from earlier requests.
    func discardInput() throws(LinkError) {
        // The number of attempts is limited, because a device may never stop sending.
        for _ in 0..<64 {
            guard !(try read(before: .now)).isEmpty else { return }
        }
    }

    /// Waits until the line is ready. Returns false when it is not ready in time.
    private func wait(
        for event: Int32,
        before deadline: ContinuousClock.Instant?,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> Bool {
        switch interrupt.wait(for: event, on: descriptor, before: deadline, cancellation) {
        case .ready: return true
        case .late: return false
        case .cancelled: throw SerialPortError.cancelled
        case .failed: throw SerialPortError.gone(path)
        }
    }
}

/// The name of a serial line: the path, and optionally `@` and the speed.
struct SerialLineName: Sendable, Equatable {
    var path: String
    var speed = SerialSpeed.initial

    /// Parses a name. Throws `LinkError` with `unsupported` when the path is missing, or the chip does not support the
    /// speed.
    init(_ name: String) throws(LinkError) {
        path = name
        // A path may itself contain an @. Only digits after the @ are a speed.
        if let at = name.lastIndex(of: "@"), name[at...].dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let bits = Int(name[name.index(after: at)...])
        {
            guard let speed = SerialSpeed(rawValue: bits) else {
                throw LinkError(.unsupported, "A PN532 does not support \(bits) baud, only \(SerialSpeed.list).")
            }
            path = String(name[..<at])
            self.speed = speed
        }
        guard !path.isEmpty else {
            throw LinkError(.unsupported, "Give the serial line of the PN532, for example pn532:/dev/ttyUSB0.")
        }
    }
}

/// A speed that a PN532 supports (PN532 user manual, 7.2.8).
enum SerialSpeed: Int, Sendable, CaseIterable {
    case baud9600 = 9600
    case baud19200 = 19200
    case baud38400 = 38400
    case baud57600 = 57600
    case baud115200 = 115_200
    case baud230400 = 230_400
    case baud460800 = 460_800
    case baud921600 = 921_600

    static let initial = baud115200

    static var list: String { allCases.map { String($0.rawValue) }.joined(separator: ", ") }

    /// The speed's codes for the operating system and for SetSerialBaudRate.
    var codes: (system: Int32, chip: UInt8) {
        switch self {
        case .baud9600: (B9600, 0)
        case .baud19200: (B19200, 1)
        case .baud38400: (B38400, 2)
        case .baud57600: (B57600, 3)
        case .baud115200: (B115200, 4)
        case .baud230400: (B230400, 5)
        case .baud460800: (B460800, 6)
        case .baud921600: (B921600, 7)
        }
    }
}

/// The reasons why a serial line can't be used, as sentences that explain what to do.
enum SerialPortError {
    /// A file's group and the group's permission.
    struct Ownership: Sendable, Equatable {
        /// The name of the group, or its number if the name is unknown.
        var group: String
        var isGroupAllowed: Bool
    }

    /// Explains a failure to open a line.
    static func reason(path: String, code: Int32, ownership: Ownership?) -> String {
        switch code {
        case ENOENT, ENOTDIR:
            if let at = path.lastIndex(of: "@"), !path[at...].contains("/") {
                return """
                    \(path) does not exist, and \"\(path[path.index(after: at)...])\" is not a baud rate that a PN532 \
                    supports. Put one of these after @: \(SerialSpeed.list).
                    """
            }
            return """
                \(path) does not exist. Plug in the PN532's serial adapter. Connected adapters are listed in /dev/serial/by-id.
                """
        case EACCES, EPERM:
            guard let ownership, ownership.isGroupAllowed, ownership.group != "root" else {
                return """
                    You have no permission to use \(path). Add the udev rule SUBSYSTEM=="tty", \
                    KERNEL=="\(kernelName(path))", GROUP="dialout", MODE="0660" to \
                    /etc/udev/rules.d/60-pn532.rules, plug the adapter in again, and join the group with: sudo usermod \
                    -aG dialout "$USER". Log in again afterwards.
                    """
            }
            return """
                You have no permission to use \(path): it belongs to the group \(ownership.group). Join the group \
                with: sudo usermod -aG \(ownership.group) "$USER". Log in again afterwards.
                """
        case EBUSY, EWOULDBLOCK: return "\(path) is in use by another program. End that program first."
        case ENXIO, ENODEV, EIO: return "No device is connected to \(path). Plug the adapter in again."
        case ENOTTY, EISDIR: return "\(path) is not a serial line."
        default: return "\(path) can't be used: \(unsafe String(cString: strerror(code)))."
        }
    }

    /// Returns the pattern with which udev selects similar lines: `ttyUSB*` for `/dev/ttyUSB0`.
    private static func kernelName(_ path: String) -> String {
        var name = path.split(separator: "/").last.map(String.init) ?? path
        while let last = name.last, last.isNumber { name.removeLast() }
        return name + "*"
    }

    static func ownership(of path: String) -> Ownership? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        let name = UserGroup(status.st_gid)?.name ?? String(status.st_gid)
        return Ownership(group: name, isGroupAllowed: status.st_mode & 0o060 == 0o060)
    }

    static func gone(_ path: String) -> LinkError {
        LinkError(.readerUnavailable, "The PN532 at \(path) is gone. Plug its adapter in again.")
    }

    static let cancelled = LinkError(.cancelled, "The operation was cancelled.")
}
