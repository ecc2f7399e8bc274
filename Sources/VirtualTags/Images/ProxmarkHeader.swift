// SPDX-License-Identifier: Apache-2.0

/// What the Proxmark3 client keeps of a MIFARE Ultralight or NTAG beside its pages.
struct ProxmarkHeader {
    /// The answer to GET_VERSION, or zeros.
    var version = [UInt8](repeating: 0, count: 8)
    /// The answer to READ_SIG, or zeros.
    var signature = [UInt8](repeating: 0, count: 32)
    var counters: [UInt32] = [0, 0, 0]
    var tearingFlags: [UInt8] = [0, 0, 0]

    init() {}

    init(_ contents: Type2Contents) {
        version = contents.version ?? version
        signature = contents.signature
        counters = contents.counters
        tearingFlags = contents.tearingFlags
    }

    /// The tag that the header and its pages are of. ATQA and SAK are those of the family.
    func contents(memory: [UInt8]) throws(TagImageError) -> Type2Contents {
        let hasVersion = version.contains { $0 != 0 }
        guard let product = Type2Product(version: hasVersion ? version : nil, pageCount: memory.count / 4) else {
            throw TagImageError(
                .unsupported,
                hasVersion
                    ? "A tag with the version \(version.hexadecimalText) is not supported yet."
                    : "No tag without GET_VERSION has \(memory.count / 4) pages."
            )
        }
        guard memory.count >= 16, memory.count <= product.pageCount * 4 else {
            throw TagImageError(
                .inconsistent,
                "\(memory.count / 4) pages are not what the \(product) has, which are \(product.pageCount)."
            )
        }
        var contents = Type2Contents(blank: product, uid: product.uid(inMemory: memory))
        contents.memory = memory
        if product.version != nil, hasVersion { contents.version = version }
        contents.signature = signature
        contents.counters = counters
        contents.tearingFlags = tearingFlags
        return contents
    }
}

extension Type2Product {
    /// The product by its answer to GET_VERSION, or by the number of its pages; nil when there is no model of it.
    ///
    /// - Parameters:
    ///   - version: the answer, 8 octets, or nil for a product without the command.
    ///   - pageCount: how many pages a dump has.
    init?(version: [UInt8]?, pageCount: Int) {
        let product: Type2Product?
        if let version, version.count == 8 {
            // Vendor, type and size tell products apart; subtypes and versions are of the same model.
            let isSame = { (other: [UInt8]) in
                version[1] == other[1] && version[2] == other[2] && version[6] == other[6]
            }
            product =
                Self.all.first { $0.version == version }
                ?? Self.all.first { $0.version.map { isSame($0) && $0[4] == version[4] } ?? false }
        } else {
            switch pageCount {
            case 16: product = .ultralight
            case 44, 48: product = .ultralightC
            case 42: product = .ntag203
            default: product = nil
            }
        }
        guard let product else { return nil }
        self = product
    }

    /// The UID at the beginning of a memory: seven octets, with a check octet behind the third but on NTAG I2C.
    func uid(inMemory memory: [UInt8]) -> [UInt8] {
        features.contains(.sectors) ? Array(memory.prefix(7)) : Array(memory.prefix(3) + memory.dropFirst(4).prefix(4))
    }
}

extension Sequence<UInt8> {
    /// Whether the octets begin as the memory of a Type 2 tag does: a UID of 7 octets with its two check octets.
    var beginsAsType2Memory: Bool {
        let head = Array(prefix(9))
        guard head.count == 9 else { return false }
        return head[3] == head[..<3].reduce(0x88, ^) && head[8] == head[4..<8].reduce(0, ^)
    }
}
