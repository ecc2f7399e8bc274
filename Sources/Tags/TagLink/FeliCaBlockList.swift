// SPDX-License-Identifier: Apache-2.0

/// The services and blocks of a Read or Write Without Encryption (JIS X 6319-4, 7.4).
package struct FeliCaBlockList: Sendable {
    package struct Element: Sendable, Hashable {
        package var service: Int
        package var accessMode: UInt8
        package var block: Int
    }

    package var services: [UInt16] = []
    package var elements: [Element] = []
    /// The bytes after the lists: the data of a write.
    package var data: [UInt8]

    /// Parses the command after the IDm; nil when it is too short. A card ignores such a command.
    package init?(_ payload: ArraySlice<UInt8>) {
        var rest = payload
        guard let serviceCount = rest.popFirst() else { return nil }
        for _ in 0..<serviceCount {
            guard let low = rest.popFirst(), let high = rest.popFirst() else { return nil }
            services.append(UInt16(high: high, low: low))
        }
        guard let blockCount = rest.popFirst() else { return nil }
        for _ in 0..<blockCount {
            guard let head = rest.popFirst(), let low = rest.popFirst() else { return nil }
            var block = Int(low)
            if head & 0x80 == 0 {
                guard let high = rest.popFirst() else { return nil }
                block |= Int(high) << 8
            }
            elements.append(Element(service: Int(head & 0x0F), accessMode: head >> 4 & 0x07, block: block))
        }
        data = Array(rest)
    }
}
