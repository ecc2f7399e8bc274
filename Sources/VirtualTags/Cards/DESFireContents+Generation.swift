// SPDX-License-Identifier: Apache-2.0

extension DESFireContents {
    /// The generations of the product. Later ones know the commands of the earlier ones.
    public enum Generation: Sendable, Hashable, CaseIterable {
        case ev1, ev2, ev3

        /// The product's name, such as `DESFire EV1`.
        public var name: String {
            switch self {
            case .ev1: "DESFire EV1"
            case .ev2: "DESFire EV2"
            case .ev3: "DESFire EV3"
            }
        }

        /// Versions of hardware and software, major and minor (NXP AN12343; AN12752).
        var versions: (hardware: [UInt8], software: [UInt8]) {
            switch self {
            case .ev1: ([0x01, 0x00], [0x01, 0x04])
            case .ev2: ([0x12, 0x00], [0x02, 0x01])
            case .ev3: ([0x33, 0x00], [0x03, 0x00])
            }
        }
    }

    /// The product's generation, by its version.
    public var generation: Generation {
        let hardware = version.count > 3 ? version[3] : 0
        return switch hardware & 0x0F {
        case 0x02: .ev2
        case 0x03: .ev3
        default: .ev1
        }
    }
}
