// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// A line to a chip on an I2C or SPI bus, where the host asks for each frame (PN532 user manual, 6.2.3 to 6.2.5).
///
/// A read begins with a status byte: 1 when the chip has a frame. A read takes a frame off the chip, even if it is too
/// short for the frame, and its length is not known before. So a read has room for most answers, and a longer one is
/// requested again.
final class BusLine: ChipLine {
    let path: String
    let kind: ChipLineKind
    var cancellation: Cancellation?
    private let device: any BusDevice
    private let interrupt: Interrupt
    /// How many bytes to read of the next frame.
    private var expected = BusLine.usual

    /// The number of bytes to read of an answer: enough for one with 30 bytes of data.
    private static let usual = 40
    /// The longest frame: start code, lengths, payload, checksum and postamble.
    private static let longest = 3 + 5 + PN53xFrame.maximumPayload + 2
    /// The first and the longest pause before a look at the status byte. Each is twice as long as the one before.
    private static let pauses = (first: Duration.milliseconds(1), longest: Duration.milliseconds(5))
    /// How long a chip on SPI needs to start after it was selected, in microseconds.
    private static let startTime: UInt16 = 2000
    /// The first byte of a transfer on SPI.
    private enum Operation: UInt8 {
        case wake = 0x00, write, readStatus, read
    }

    /// Opens a bus for this program only. Throws `LinkError` with `readerUnavailable` and a reason.
    init(path: String, kind: ChipLineKind, interrupt: Interrupt, open: BusOpener) throws(LinkError) {
        (self.path, self.kind, self.interrupt) = (path, kind, interrupt)
        do throws(SystemCallError) { device = try open(path, kind) } catch {
            throw ChipLineError.unusable(kind, path, error.code)
        }
    }

    func write(_ frame: [UInt8], wakes: Bool, before deadline: ContinuousClock.Instant) throws(LinkError) {
        // On I2C, the chip wakes when it is addressed, and acknowledges its address when it has started.
        if wakes, kind == .spi { _ = try transfer(.wake, [], holding: Self.startTime) }
        while try transfer(.write, frame) == nil {
            guard deadline > .now else { throw ChipLineError.noChip(kind, path) }
            wait(Self.pauses.longest, before: deadline, nil)
        }
        // The chip acknowledges a command first.
        let acknowledge = PN53xFrame.acknowledgeBytes.count
        expected = frame.count > acknowledge ? acknowledge : Self.usual
    }

    func read(before deadline: ContinuousClock.Instant?) throws(LinkError) -> [UInt8] {
        var pause = Self.pauses.first
        while true {
            guard wait(pause, before: deadline, cancellation) != .cancelled else { throw ChipLineError.cancelled }
            if let frame = try takeFrame() { return frame }
            if let deadline, deadline <= .now { return [] }
            pause = min(pause * 2, Self.pauses.longest)
        }
    }

    @discardableResult
    private func wait(
        _ pause: Duration,
        before deadline: ContinuousClock.Instant?,
        _ cancellation: Cancellation?
    ) -> Interrupt.WaitEnd {
        let end = ContinuousClock.now + pause
        return interrupt.wait(for: 0, on: -1, before: min(end, deadline ?? end), cancellation)
    }

    /// Takes a frame off the chip, and returns it with what surrounds it; nil when the chip has no whole frame.
    private func takeFrame() throws(LinkError) -> [UInt8]? {
        if kind == .spi { guard try transfer(.readStatus, [], receiving: 1) == [0x01] else { return nil } }
        guard let bytes = try transfer(.read, [], receiving: expected) else { return nil }
        let length = min(Self.frameLength(bytes), Self.longest)
        guard length <= expected else {
            try write(PN53xFrame.negativeAcknowledgeBytes, wakes: false, before: .now + .seconds(1))
            expected = length
            return nil
        }
        expected = Self.usual
        return Array(bytes.prefix(length))
    }

    /// Returns the length of the frame in some bytes, with what precedes it; that of the bytes if they have no frame.
    private static func frameLength(_ bytes: [UInt8]) -> Int {
        guard let start = bytes.indices.dropLast(3).first(where: { bytes[$0] == 0x00 && bytes[$0 + 1] == 0xFF }) else {
            return bytes.count
        }
        switch (bytes[start + 2], bytes[start + 3]) {
        case (0x00, 0xFF): return min(start + 5, bytes.count)
        case (0xFF, 0xFF):
            guard bytes.count >= start + 6 else { return bytes.count }
            return start + 7 + Int(high: bytes[start + 4], low: bytes[start + 5]) + 2
        case (let length, let checksum): return length &+ checksum == 0 ? start + 4 + Int(length) + 2 : bytes.count
        }
    }

    /// Runs one transfer. Returns the received bytes; nil when the chip on I2C is busy, or has no frame to read.
    private func transfer(
        _ operation: Operation,
        _ bytes: [UInt8],
        receiving count: Int = 0,
        holding time: UInt16 = 0
    ) throws(LinkError) -> [UInt8]? {
        do throws(SystemCallError) {
            if kind == .spi {
                // The chip sends and expects the least significant bit first, which few drivers can do.
                let sent = ([operation.rawValue] + bytes).map(\.bitsReversed)
                return try device.transfer(sent, receiving: count, holding: time).map(\.bitsReversed)
            }
            let received = try device.transfer(bytes, receiving: count == 0 ? 0 : count + 1, holding: 0)
            return count == 0 || received.first == 0x01 ? Array(received.dropFirst()) : nil
        } catch {
            // How drivers report an address that was not acknowledged, and a bus that another host used.
            if kind == .i2c, [ENXIO, EREMOTEIO, EAGAIN].contains(error.code) { return nil }
            // After a clock that was stretched too long, the chip may have the whole frame. If so, it acknowledges it.
            if kind == .i2c, [EIO, ETIMEDOUT].contains(error.code) { return operation == .write ? [] : nil }
            throw ChipLineError.unusable(kind, path, error.code)
        }
    }
}

extension UInt8 {
    fileprivate var bitsReversed: UInt8 { (0..<8).reduce(0) { $0 | (self >> $1 & 1) << (7 - $1) } }
}

/// A system call that failed, with its errno.
package struct SystemCallError: Error {
    package let code: Int32

    package init(_ code: Int32) {
        self.code = code
    }
}

/// Opens the bus at a path.
package typealias BusOpener = @Sendable (_ path: String, _ kind: ChipLineKind) throws(SystemCallError) -> any BusDevice

/// An open I2C or SPI bus. Tests replace the system's with a model of a chip.
package protocol BusDevice: AnyObject {
    /// Sends bytes, then receives bytes, while the chip stays selected, and for some microseconds after that. On I2C,
    /// either nothing is sent or nothing is received.
    func transfer(_ bytes: [UInt8], receiving count: Int, holding time: UInt16) throws(SystemCallError) -> [UInt8]
}

/// The system's I2C bus, `/dev/i2c-1`, or SPI bus, `/dev/spidev0.0`.
final class SystemBus: BusDevice {
    private let kind: ChipLineKind
    private let descriptor: Int32

    // I2C_SLAVE from linux/i2c-dev.h; SPI_IOC_WR_MODE and SPI_IOC_MESSAGE(1) from linux/spi/spidev.h.
    private static let selectAddress: UInt = 0x0703
    private static let setMode: UInt = 0x4001_6B01
    private static let sendMessage: UInt = 0x4020_6B00

    /// struct spi_ioc_transfer of linux/spi/spidev.h.
    struct Message {
        var sent: UInt64
        var received: UInt64
        var count: UInt32
        /// Bits per second. The chip supports five times as much, but wires between boards may not.
        var speed: UInt32 = 1_000_000
        /// How long the chip stays selected, in microseconds.
        var holding: UInt16
        var bitsPerWord: UInt8 = 8
        /// cs_change, tx_nbits, rx_nbits, word_delay_usecs and pad.
        var unused: (UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0)
    }

    init(_ path: String, _ kind: ChipLineKind) throws(SystemCallError) {
        descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        self.kind = kind
        guard descriptor >= 0 else { throw SystemCallError(errno) }
        // Mode 0: the clock is low when idle, and the first edge samples.
        var mode: UInt8 = 0
        // Other programs may use other chips on the bus. Those that use this chip lock it.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            kind == .i2c
                ? ioctl(descriptor, Self.selectAddress, ChipLineKind.address) == 0
                : unsafe ioctl(descriptor, Self.setMode, &mode) == 0
        else { throw SystemCallError(errno) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        // A child program that is just starting may still have the descriptor open, and would keep the bus locked.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    func transfer(_ bytes: [UInt8], receiving count: Int, holding time: UInt16) throws(SystemCallError) -> [UInt8] {
        var sent = kind == .spi ? bytes + [UInt8](repeating: 0, count: count) : bytes
        var received = [UInt8](repeating: 0, count: kind == .spi ? sent.count : count)
        let result: Int
        if kind == .spi {
            result = unsafe sent.withUnsafeMutableBytes { sent in
                unsafe received.withUnsafeMutableBytes { received in
                    var message = Message(
                        sent: UInt64(UInt(bitPattern: sent.baseAddress)),
                        received: UInt64(UInt(bitPattern: received.baseAddress)),
                        count: UInt32(sent.count),
                        holding: time
                    )
                    return Int(unsafe ioctl(descriptor, Self.sendMessage, &message))
                }
            }
        } else if count > 0 {
            result = unsafe read(descriptor, &received, count)
        } else {
            result = unsafe write(descriptor, &sent, sent.count)
        }
        guard result >= 0 else { throw SystemCallError(errno) }
        return Array(received.suffix(count))
    }
}
