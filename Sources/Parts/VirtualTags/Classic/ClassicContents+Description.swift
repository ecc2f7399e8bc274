// SPDX-License-Identifier: Apache-2.0
import TagLink

// A print and a dump show the memory with zeros in place of passwords and keys, which are in the middle of it.

extension ClassicContents: CustomReflectable, CustomStringConvertible {
    /// The parts that a print shows, without the sectors' keys.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "product": product, "uid": uid, "atqa": atqa, "sak": sak, "memory": memory.concealing(keyPlaces),
                "unknownOctets": unknownOctets, "signature": signature,
            ],
            displayStyle: .struct
        )
    }

    /// The product, the UID and the size.
    public var description: String { "\(product), UID \(uid.hexText()), \(memory.count) octets" }
}

extension ClassicContents {
    /// The places of the sectors' keys in the memory.
    package var keyPlaces: [Range<Int>] {
        (0..<product.sectorCount).flatMap { sector in
            let trailer = ClassicProduct.trailer(ofSector: sector) * 16
            return [trailer..<trailer + 6, trailer + 10..<trailer + 16]
        }
    }
}
