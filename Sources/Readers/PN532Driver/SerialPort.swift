// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// A serial line to a chip, with 8 data bits, no parity, one stop bit, no flow control, and no translation.
///
/// The methods block, so use them on a separate thread. Every wait has a time limit and can be cancelled.
final class SerialPort: ChipLine {
    let path: String
    let kind = ChipLineKind.serial
    private let descriptor: Int32
    private let interrupt: Interrupt
    var cancellation: Cancellation?

    /// The bytes that wake a sleeping chip and give it time to start. They precede a frame (PN532 user manual, 7.2.11).
    static let wakeUp: [UInt8] = [0x55, 0x55] + [UInt8](repeating: 0, count: 14)

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
            throw ChipLineError.unusable(kind, path, code)
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
        guard code == 0 else { throw ChipLineError.unusable(kind, path, code) }
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

    func write(_ frame: [UInt8], wakes: Bool, before deadline: ContinuousClock.Instant) throws(LinkError) {
        let bytes = wakes ? Self.wakeUp + frame : frame
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
                throw ChipLineError.gone(path)
            }
        }
    }

    func read(before deadline: ContinuousClock.Instant?) throws(LinkError) -> [UInt8] {
        while true {
            if cancellation?.isCancelled == true { throw ChipLineError.cancelled }
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                buffer.removeSubrange(count...)
                return buffer
            }
            guard count < 0, errno == EAGAIN || errno == EINTR else { throw ChipLineError.gone(path) }
            if errno == EAGAIN {
                guard try wait(for: POLLIN, before: deadline, cancellation) else { return [] }
            }
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
        case .cancelled: throw ChipLineError.cancelled
        case .failed: throw ChipLineError.gone(path)
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
