// SPDX-License-Identifier: Apache-2.0
import Glibc
package import PN532Driver
import TagLink

/// A chip's end of an I2C or SPI bus, as a driver's system calls reach it (PN532 user manual, 6.2.3 to 6.2.5). The chip
/// is asleep at first.
package final class BusModel: BusDevice, Sendable {
    private struct State {
        var isAsleep = true
        var frames: [[UInt8]] = []
        var failure: Int32?
        var writeFailure: Int32?
    }

    private let kind: ChipLineKind
    private let onFrame: @Sendable ([UInt8]) -> Void
    private let state = Locked(State())

    /// Creates an end that has no frame for the host. `onFrame` is called with what the host writes.
    package init(_ kind: ChipLineKind, onFrame: @escaping @Sendable ([UInt8]) -> Void) {
        (self.kind, self.onFrame) = (kind, onFrame)
    }

    /// Has a frame for the host, after those before.
    package func offer(_ frame: [UInt8]) {
        state.withLock { $0.frames.append(frame) }
    }

    /// Has all calls fail.
    package func fail(_ code: Int32) {
        state.withLock { $0.failure = code }
    }

    /// Has the next write fail, although the chip gets it.
    package func failNextWrite(_ code: Int32) {
        state.withLock { $0.writeFailure = code }
    }

    package func transfer(_ bytes: [UInt8], receiving count: Int, holding time: UInt16) throws(SystemCallError)
        -> [UInt8]
    {
        let wasAsleep = state.withLock { state in
            defer { if kind == .i2c || time >= 2000 { state.isAsleep = false } }
            return state.isAsleep
        }
        if let failure = state.withLock({ $0.failure }) { throw SystemCallError(failure) }
        if kind == .i2c {
            // A chip that wakes does not acknowledge its address.
            if wasAsleep { throw SystemCallError(EREMOTEIO) }
            if count > 0 { return read(count, withStatus: true) }
            write(bytes)
            let failure = state.withLock { state in
                defer { state.writeFailure = nil }
                return state.writeFailure
            }
            if let failure { throw SystemCallError(failure) }
            return []
        }
        // The line floats.
        if wasAsleep { return [UInt8](repeating: 0xFF, count: count) }
        let received: [UInt8]
        switch bytes.map(Self.mirrored).first {
        case 0x01:
            write(bytes.dropFirst().map(Self.mirrored))
            received = []
        case 0x02: received = [state.withLock { $0.frames.isEmpty } ? 0x00 : 0x01]
        case 0x03: received = read(count, withStatus: false)
        default: received = [UInt8](repeating: 0, count: count)
        }
        return received.map(Self.mirrored)
    }

    private func write(_ frame: [UInt8]) {
        // A command ends the one before it.
        state.withLock { $0.frames = [] }
        onFrame(frame)
    }

    /// Takes a frame. The rest of it is lost; what comes behind it has no meaning.
    private func read(_ count: Int, withStatus: Bool) -> [UInt8] {
        let frame = state.withLock { $0.frames.isEmpty ? nil : $0.frames.removeFirst() }
        let status: [UInt8] = withStatus ? [frame == nil ? 0x00 : 0x01] : []
        return Array((status + (frame ?? []) + [UInt8](repeating: 0xAA, count: count)).prefix(count))
    }

    /// The byte with its bits in the other order, as the bus has them.
    private static func mirrored(_ byte: UInt8) -> UInt8 {
        var (rest, mirrored) = (byte, UInt8(0))
        for _ in 0..<8 { (mirrored, rest) = (mirrored << 1 | rest & 1, rest >> 1) }
        return mirrored
    }
}
