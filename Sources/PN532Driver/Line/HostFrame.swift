// SPDX-License-Identifier: Apache-2.0

/// What a host sends to a PN532 (PN532 user manual, 6.2.1).
enum HostFrame {
    /// The host has what it wants, or gives up waiting: the chip stops what it does.
    static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    /// The last answer arrived damaged: the chip sends it again.
    static let negativeAcknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]
    /// What wakes a chip that sleeps, and gives it time to: it stands before a frame (PN532 user manual, 7.2.11).
    static let wakeUp: [UInt8] = [0x55, 0x55] + [UInt8](repeating: 0, count: 14)

    /// The most data of a command, after its code: a frame has 265 octets from TFI on.
    static let maximumData = 263

    /// The frame of a command: an extended one where it has more than 255 octets.
    ///
    /// - Parameters:
    ///   - code: the command's code.
    ///   - data: its data, ``maximumData`` octets at most.
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
