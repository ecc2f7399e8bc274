// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// A serial line to a chip: 8 data bits, no parity, one stop bit, no flow control, and no translation.
///
/// Its methods block, so use it on a separate thread. Every wait has a limit, and can be cancelled.
final class SerialPort {
    /// The line's path, such as `/dev/ttyUSB0`.
    let path: String
    private let descriptor: Int32
    private let interrupt: Interrupt

    /// Opens a line for this program only.
    ///
    /// - Parameters:
    ///   - path: the line's path.
    ///   - speed: bits per second.
    ///   - interrupt: wakes the waiting thread.
    /// - Throws: `LinkError` with `readerUnavailable`; its reason says what to do.
    init(path: String, speed: SerialSpeed, interrupt: Interrupt) throws(LinkError) {
        let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        var code = descriptor < 0 ? errno : 0
        if code == 0, isatty(descriptor) != 1 { code = ENOTTY }
        // Programs that share a line would steal each other's answers.
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
        // A program that is just being started may still hold the descriptor, and so would keep the line locked.
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
        guard unsafe cfsetspeed(&settings, speed.code) == 0,
            unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0,
            tcflush(descriptor, TCIOFLUSH) == 0
        else { return errno }
        return 0
    }

    /// Sends all bytes.
    ///
    /// - Throws: `LinkError` with `readerUnavailable` when the line is gone or does not accept them in time, or
    ///   `cancelled`.
    func write(
        _ bytes: [UInt8],
        before deadline: ContinuousClock.Instant,
        _ cancellation: Cancellation?
    ) throws(LinkError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            if count > 0 {
                written += count
            } else if count < 0, errno == EAGAIN {
                guard try wait(for: POLLOUT, before: deadline, cancellation) else {
                    throw LinkError(.readerUnavailable, "\(path) takes nothing: the adapter hangs. Plug it in again.")
                }
            } else if count == 0 || errno != EINTR {
                throw SerialPortError.gone(path)
            }
        }
    }

    /// Waits for bytes.
    ///
    /// - Returns: the received bytes; empty when none arrived in time.
    /// - Throws: `LinkError` with `readerUnavailable` when the line is gone, or `cancelled`.
    func read(before deadline: ContinuousClock.Instant?, _ cancellation: Cancellation?) throws(LinkError) -> [UInt8] {
        while true {
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

    /// Discards received bytes that belong to no request.
    func discardInput() throws(LinkError) {
        // Limited, because a device may never stop sending.
        for _ in 0..<64 {
            guard !(try read(before: .now, nil)).isEmpty else { return }
        }
    }

    /// Waits until the line is ready.
    ///
    /// - Returns: false when it is not ready in time.
    private func wait(
        for event: Int32,
        before deadline: ContinuousClock.Instant?,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> Bool {
        while true {
            if cancellation?.isCancelled == true { throw SerialPortError.cancelled }
            var milliseconds: Int32 = -1
            if let deadline {
                let rest = (deadline - .now).components
                let whole = rest.seconds * 1000 + (rest.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
                guard whole > 0 else { return false }
                milliseconds = Int32(clamping: whole)
            }
            var polled = [
                pollfd(fd: descriptor, events: Int16(event), revents: 0),
                pollfd(fd: interrupt.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&polled, 2, milliseconds)
            if count < 0, errno != EINTR { throw SerialPortError.gone(path) }
            if polled[1].revents != 0 { interrupt.clear() }
            // The next call reports what is wrong with the line.
            if polled[0].revents != 0 { return true }
        }
    }
}
