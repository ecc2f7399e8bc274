// SPDX-License-Identifier: Apache-2.0

extension Type2Silicon {
    /// Lays the UID and the counter in ASCII over pages, where the configuration says so (NTAG213/215/216 data sheet,
    /// 8.5.7 and 8.6).
    func layMirror(over pages: Range<Int>, in octets: inout [UInt8], at start: Int) {
        let mode = configuration(0, 0) >> 6
        let firstPage = Int(configuration(0, 2))
        guard mode != 0, firstPage > 3, firstPage <= product.userPages.upperBound else { return }
        let text = mirrorText(mode)
        let position = firstPage * 4 + Int(configuration(0, 0) >> 4 & 0x03)
        let end = (product.userPages.upperBound + 1) * 4
        guard position + text.count <= end else { return }
        for (index, character) in text.enumerated() {
            let offset = position + index - pages.lowerBound * 4
            if offset >= 0, offset < pages.count * 4 { octets[start + offset] = character }
        }
    }

    /// 14 digits of UID, 6 of the counter, or both with an `x` between.
    private func mirrorText(_ mode: UInt8) -> [UInt8] {
        let counterOctets = (0..<3).map { UInt8(truncatingIfNeeded: contents.counters[2] >> UInt32(16 - 8 * $0)) }
        let hasCounter = product.features.contains(.readingCounter)
        return switch (mode, hasCounter) {
        case (1, _), (3, false): Self.hexadecimal(contents.uid)
        case (2, true): Self.hexadecimal(counterOctets)
        case (3, true): Self.hexadecimal(contents.uid) + [0x78] + Self.hexadecimal(counterOctets)
        default: []
        }
    }

    private static func hexadecimal(_ octets: [UInt8]) -> [UInt8] {
        octets.flatMap { (octet: UInt8) -> [UInt8] in [digit(octet >> 4), digit(octet & 0x0F)] }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x37 + value
    }
}
