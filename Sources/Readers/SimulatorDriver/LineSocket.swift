// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink
import TextSafety

/// Sends and receives lines over a connected socket, which does not block. Every wait has a limit and can be cancelled.
///
/// It does not close the socket.
struct LineSocket {
    /// The longest line that is accepted. The longest that a simulator sends has the message of a tag in hex.
    static let maximumLine = 256 << 10

    let descriptor: Int32
    private let interrupt: Interrupt
    /// The received bytes that were not used yet start at `start`; up to `scanned` they have no line feed.
    private var buffer: [UInt8] = []
    private var start = 0
    private var scanned = 0

    init(_ descriptor: Int32, interrupt: Interrupt) {
        self.descriptor = descriptor
        self.interrupt = interrupt
    }

    /// Sends a line with its line feed. Throws `LinkError` with `readerUnavailable`; `cancelled` before anything was
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
                // A line that has begun is sent whole, because the next line follows on the same connection.
                let ending = sent == 0 ? cancellation : nil
                guard try wait(for: POLLOUT, before: deadline, ending) else { throw SimulatorError.silent }
            } else if errno != EINTR {
                throw SimulatorError.gone
            }
        }
    }

    /// Returns the next complete line among the received bytes; nil when there is none. Throws `LinkError` with
    /// `readerUnavailable` when it is not a valid object, or too long.
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

    /// Receives more bytes; without a deadline only those that have arrived. Returns false when none came in time.
    /// Throws `LinkError` with `readerUnavailable` when the connection has ended, or `cancelled`.
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

    /// Appends what the socket has to the buffer. Returns the number of bytes; otherwise `errno` says why there are
    /// none. It is 0 at the end of the connection.
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
