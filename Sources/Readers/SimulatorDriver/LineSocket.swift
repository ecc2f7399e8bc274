// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink
import TextSafety

/// Sends and receives lines over a connected, non-blocking socket. Every wait has a time limit and can be cancelled.
///
/// The socket is not closed here.
struct LineSocket {
    /// The maximum length of a line. The longest line from a simulator contains a tag's message in hex.
    static let maximumLine = 256 << 10

    let descriptor: Int32
    private let interrupt: Interrupt
    /// The unused received bytes start at `start`. There is no line feed between `start` and `scanned`.
    private var buffer: [UInt8] = []
    private var start = 0
    private var scanned = 0

    init(_ descriptor: Int32, interrupt: Interrupt) {
        self.descriptor = descriptor
        self.interrupt = interrupt
    }

    /// Sends a line with its line feed. Throws `LinkError` with `readerUnavailable`, or with `cancelled` if nothing was
    /// sent.
    func send(
        _ line: [UInt8],
        before deadline: ContinuousClock.Instant,
        _ cancellation: Cancellation?
    ) throws(LinkError) {
        var sent = 0
        while sent < line.count {
            let count = unsafe line.withUnsafeBytes { bytes in
                unsafe Glibc.send(
                    descriptor,
                    bytes.baseAddress?.advanced(by: sent),
                    bytes.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                // A partly sent line is always completed, because the next line follows on the same connection.
                let ending = sent == 0 ? cancellation : nil
                guard try wait(for: POLLOUT, before: deadline, ending) else { throw SimulatorError.silent }
            } else if errno != EINTR {
                throw SimulatorError.gone
            }
        }
    }

    /// Returns the next complete line among the received bytes; nil when there is none. Throws `LinkError` with
    /// `readerUnavailable` when the line is not a valid object, or is too long.
    mutating func next() throws(LinkError) -> JSONLine? {
        guard let end = buffer[scanned...].firstIndex(of: 0x0A) else {
            scanned = buffer.count
            guard buffer.count - start <= Self.maximumLine else { throw SimulatorError.invalid("A line is too long.") }
            return nil
        }
        defer {
            start = end + 1
            scanned = start
        }
        guard end - start <= Self.maximumLine else { throw SimulatorError.invalid("A line is too long.") }
        do throws(JSONLine.Failure) {
            return try JSONLine(buffer, start..<end, allowsNull: true)
        } catch {
            throw SimulatorError.invalid(error.reason)
        }
    }

    /// Receives more bytes. Without a deadline, receives only those that have arrived. Returns false when none arrive
    /// in time. Throws `LinkError` with `readerUnavailable` when the connection has ended, or `cancelled`.
    mutating func fill(
        before deadline: ContinuousClock.Instant?,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> Bool {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
        } else {
            buffer.removeSubrange(..<start)
        }
        scanned -= start
        start = 0
        while true {
            if receive() > 0 { return true }
            guard errno == EAGAIN || errno == EINTR else { throw SimulatorError.gone }
            guard let deadline else { return false }
            guard try wait(for: POLLIN, before: deadline, cancellation) else { return false }
        }
    }

    /// Appends the bytes that the socket has received to the buffer. Returns the number of bytes. If it is not
    /// positive, `errno` is the error, or 0 at the end of the connection.
    private mutating func receive() -> Int {
        let (count, code) = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { room in
            let count = unsafe recv(descriptor, room.baseAddress, room.count, 0)
            let code = count < 0 ? errno : 0
            if count > 0 { unsafe buffer.append(contentsOf: UnsafeBufferPointer(rebasing: room[..<count])) }
            return (count, code)
        }
        errno = code
        return count
    }

    /// Waits until the socket is ready. Returns false when it is not ready in time.
    private func wait(
        for event: Int32,
        before deadline: ContinuousClock.Instant,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> Bool {
        switch interrupt.wait(for: event, on: descriptor, before: deadline, cancellation) {
        case .ready: return true
        case .late: return false
        case .cancelled: throw SimulatorError.cancelled
        case .failed: throw SimulatorError.gone
        }
    }
}
