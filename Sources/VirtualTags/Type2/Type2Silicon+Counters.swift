// SPDX-License-Identifier: Apache-2.0

extension Type2Silicon {
    private static let counterLimit: UInt32 = 0xFF_FFFF

    /// Whether the counter of readings is switched on: NFC_CNT_EN of ACCESS.
    private var countsReadings: Bool {
        product.features.contains(.readingCounter) && configurationAccess & 0x10 != 0
    }

    /// Counts the first READ or FAST_READ after the power came (NTAG213/215/216 data sheet, 8.7).
    mutating func countReading() {
        guard countsReadings, !hasCountedReading else { return }
        hasCountedReading = true
        contents.counters[2] = min(contents.counters[2] + 1, Self.counterLimit)
    }

    /// READ_CNT: three octets, the low one first.
    func readCounter(_ address: UInt8) -> Reply {
        if product.features.contains(.counters), address < 3 {
            return .data(Self.octets(contents.counters[Int(address)]))
        }
        guard countsReadings, address == 2 else { return .refusal(.argument) }
        // NFC_CNT_PWD_PROT keeps the counter behind the password.
        if configurationAccess & 0x08 != 0, !isAuthenticated { return .refusal(.authenticationOrCounter) }
        return .data(Self.octets(contents.counters[2]))
    }

    /// INCR_CNT: adds, and refuses to run over (MF0ULx1 data sheet, 10.6).
    mutating func incrementCounter(_ address: UInt8, by octets: [UInt8]) -> Reply {
        guard address < 3 else { return .refusal(.argument) }
        let step = UInt32(octets[0]) | UInt32(octets[1]) << 8 | UInt32(octets[2]) << 16
        let sum = contents.counters[Int(address)] + step
        guard sum <= Self.counterLimit else { return .refusal(.authenticationOrCounter) }
        // The counters are protected against tearing: what a power cut leaves is the old or the new value.
        switch tear {
        case .old: break
        case .mixed(let seed) where seed & 1 == 0: break
        default: contents.counters[Int(address)] = sum
        }
        return .programmed
    }

    private static func octets(_ counter: UInt32) -> [UInt8] {
        (0..<3).map { UInt8(truncatingIfNeeded: counter >> UInt32(8 * $0)) }
    }
}
