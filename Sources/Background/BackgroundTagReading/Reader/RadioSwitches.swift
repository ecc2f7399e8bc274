// SPDX-License-Identifier: Apache-2.0

/// The switches of a computer's radios, from the events of `/dev/rfkill` (Linux, `include/uapi/linux/rfkill.h`).
public struct RadioSwitches: Sendable, Hashable {
    /// The number of bytes of an event that are used. Newer systems may send more.
    public static let eventSize = 8
    /// The most switches that are kept.
    static let maximumCount = 256
    private static let nfc: UInt8 = 8

    private struct Switch: Hashable {
        var type: UInt8
        var isBlocked: Bool
    }

    private var switches: [UInt32: Switch] = [:]

    /// Creates an empty set of switches.
    public init() {}

    /// Handles an event: the index of the switch in four bytes, its type, the operation, and the soft and hard block.
    ///
    /// - Returns: false when the event is too short.
    @discardableResult
    public mutating func take(_ event: some Collection<UInt8>) -> Bool {
        let bytes = Array(event.prefix(Self.eventSize))
        guard bytes.count == Self.eventSize else { return false }
        let index: UInt32 = bytes[..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        let isBlocked = bytes[6] != 0 || bytes[7] != 0
        switch bytes[5] {
        case 0, 2:
            guard switches[index] != nil || switches.count < Self.maximumCount else { return true }
            switches[index] = Switch(type: bytes[4], isBlocked: isBlocked)
        case 1: switches[index] = nil
        case 3:
            // All switches of a type; 0 means every type.
            for (index, entry) in switches where bytes[4] == 0 || entry.type == bytes[4] {
                switches[index]?.isBlocked = isBlocked
            }
        default: break
        }
        return true
    }

    /// Whether all radios are blocked, or NFC is.
    public var isAirplaneModeOn: Bool {
        !switches.isEmpty && switches.values.allSatisfy(\.isBlocked)
            || switches.values.contains { $0.type == Self.nfc && $0.isBlocked }
    }
}
