// SPDX-License-Identifier: Apache-2.0
import TagLink

// What a print and a dump show: the memory with zeros in place of passwords and keys, which are in the middle of it.

extension Type2Contents: CustomReflectable, CustomStringConvertible {
    /// The parts that a print shows, without the password and the keys.
    public var customMirror: Mirror {
        let places = secretPages.map { 4 * $0..<4 * $0 + 4 }
        return Mirror(
            self,
            children: [
                "product": product, "uid": uid, "memory": memory.concealing(places), "atqa": atqa, "sak": sak,
                "version": version as Any, "signature": signature, "counters": counters,
                "tearingFlags": tearingFlags, "failedAuthentications": failedAuthentications,
            ],
            displayStyle: .struct
        )
    }

    /// The product, the UID and the size.
    public var description: String { "\(product), UID \(uid.hexText()), \(memory.count) octets" }
}

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
