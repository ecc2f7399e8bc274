// SPDX-License-Identifier: Apache-2.0
import TagLink

// Prints and dumps show zeros in place of the passwords and keys, which are in the middle of the memory.

extension Type2Contents: CustomReflectable, CustomStringConvertible {
    /// The printed parts, without the password and the keys.
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
    public var description: String { "\(product), UID \(uid.hexText()), \(memory.count) bytes" }
}

extension Type2Contents {
    /// The pages with the password (PWD and PACK) and the keys.
    package var secretPages: [Int] {
        var pages: [Int] = []
        if product.features.contains(.password), let start = product.configurationPage {
            pages += [start + 2, start + 3]
        }
        if product.features.contains(.tripleDES) { pages += 44...47 }
        return pages
    }
}
