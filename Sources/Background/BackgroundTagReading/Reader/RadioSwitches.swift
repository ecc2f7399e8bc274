// SPDX-License-Identifier: Apache-2.0

/// The switches of a computer's radios, from the events of `/dev/rfkill` (Linux, `include/uapi/linux/rfkill.h`).
public struct RadioSwitches: Sendable, Hashable {
    /// The bytes of an event that are looked at; newer systems may add more.
    public static let eventSize = 8
    /// More switches than that are not kept.
    static let maximumCount = 256
    private static let nfc: UInt8 = 8

    private struct Switch: Hashable {
        var type: UInt8
        var isBlocked: Bool
    }

    private var switches: [UInt32: Switch] = [:]

    /// Creates switches of which nothing is known yet.
    public init() {}

    /// Takes an event: the number of the switch in four bytes, its type, what happened, and the two blocks.
    ///
    /// - Returns: false when it is too short.
    @discardableResult
    public mutating func take(_ event: some Collection<UInt8>) -> Bool {
        let octets = Array(event.prefix(Self.eventSize))
        guard octets.count == Self.eventSize else { return false }
        let index: UInt32 = octets[..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        let isBlocked = octets[6] != 0 || octets[7] != 0
        switch octets[5] {
        case 0, 2:
            guard switches[index] != nil || switches.count < Self.maximumCount else { return true }
            switches[index] = Switch(type: octets[4], isBlocked: isBlocked)
        case 1: switches[index] = nil
        case 3:
            // All of a type, where 0 is every type.
            for (index, entry) in switches where octets[4] == 0 || entry.type == octets[4] {
                switches[index]?.isBlocked = isBlocked
            }
        default: break
        }
        return true
    }

    /// Whether every radio is blocked, or NFC itself is.
    public var isAirplaneModeOn: Bool {
        !switches.isEmpty && switches.values.allSatisfy(\.isBlocked)
            || switches.values.contains { $0.type == Self.nfc && $0.isBlocked }
    }
}
