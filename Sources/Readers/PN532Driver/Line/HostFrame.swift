// SPDX-License-Identifier: Apache-2.0

/// Frames from a host to a PN532 (PN532 user manual, 6.2.1).
enum HostFrame {
    /// The host has the answer, or stops waiting for it: the chip stops its command.
    static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    /// The last answer arrived damaged: the chip has to send it again.
    static let negativeAcknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]
    /// The bytes that wake a sleeping chip and give it time to start. They are sent before a frame (PN532 user manual,
    /// 7.2.11).
    static let wakeUp: [UInt8] = [0x55, 0x55] + [UInt8](repeating: 0, count: 14)

    /// The maximum number of data bytes of a command, after its code: a frame has 265 bytes from TFI on.
    static let maximumData = 263

    /// The frame of a command. It is an extended frame if it has more than 255 bytes.
    ///
    /// - Parameters:
    ///   - code: the command's code.
    ///   - data: its data, ``maximumData`` bytes at most.
    static func command(_ code: UInt8, _ data: [UInt8]) -> [UInt8] {
        let payload = [0xD4, code] + data
        let checksum = 0 &- payload.reduce(0, &+)
        let low = UInt8(truncatingIfNeeded: payload.count)
        guard payload.count > 0xFF else {
            return [0x00, 0x00, 0xFF, low, 0 &- low] + payload + [checksum, 0x00]
        }
        let high = UInt8(truncatingIfNeeded: payload.count >> 8)
        return [0x00, 0x00, 0xFF, 0xFF, 0xFF, high, low, 0 &- high &- low] + payload + [checksum, 0x00]
    }
}
