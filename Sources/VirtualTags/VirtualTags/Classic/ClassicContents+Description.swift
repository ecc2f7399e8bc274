// SPDX-License-Identifier: Apache-2.0
import TagLink

// Prints and dumps show zeros in place of the passwords and keys, which are in the middle of the memory.

extension ClassicContents: CustomReflectable, CustomStringConvertible {
    /// The printed parts, without the sectors' keys.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "product": product, "uid": uid, "atqa": atqa, "sak": sak, "memory": memory.concealing(keyPlaces),
                "unknownBytes": unknownBytes, "signature": signature,
            ],
            displayStyle: .struct
        )
    }

    /// The product, the UID and the size.
    public var description: String { "\(product), UID \(uid.hexText()), \(memory.count) bytes" }
}

extension ClassicContents {
    /// The positions of the sectors' keys in the memory.
    package var keyPlaces: [Range<Int>] {
        (0..<product.sectorCount).flatMap { sector in
            let trailer = ClassicProduct.trailer(ofSector: sector) * 16
            return [trailer..<trailer + 6, trailer + 10..<trailer + 16]
        }
    }
}
