// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// A tag of the conformance suite, and the data that a reader has to find on it.
struct ConformanceTag: Sendable {
    var name: String
    var technology: Technology
    var type: Int
    var product: String
    var uid: [UInt8]
    /// The capacity of the empty tag.
    var capacity: Int
    var needs: [ReaderCapability]

    init(_ name: String, _ technology: Technology, type: Int, _ product: String, uid: [UInt8], capacity: Int) {
        self.name = name
        self.technology = technology
        self.type = type
        self.product = product
        self.uid = uid
        self.capacity = capacity
        needs = [.technology(technology)] + (type == 1 ? [.type1] : [])
    }

    static let all = [
        ConformanceTag("Type 1", .nfcA, type: 1, "Topaz 512", uid: [1, 2, 3, 4, 5, 6, 0x25], capacity: 462),
        ConformanceTag("Type 2", .nfcA, type: 2, "NTAG213", uid: [4, 1, 2, 3, 4, 5, 6], capacity: 137),
        ConformanceTag("Type 3", .nfcF, type: 3, "FeliCa Lite-S", uid: [2, 0xFE, 1, 2, 3, 4, 5, 6], capacity: 208),
        ConformanceTag("Type 4A", .nfcA, type: 4, "generic Type 4", uid: [4, 8, 9, 10, 11, 12, 13], capacity: 1022),
        ConformanceTag("Type 4B", .nfcB, type: 4, "generic Type 4B", uid: [1, 2, 3, 4], capacity: 1022),
        ConformanceTag(
            "DESFire",
            .nfcA,
            type: 4,
            "DESFire EV1 2K",
            uid: [4, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66],
            capacity: 2046
        ),
        ConformanceTag("Type 5", .nfcV, type: 5, "ICODE SLIX", uid: [0xE0, 4, 1, 0x10, 1, 2, 3, 4], capacity: 102),
    ]

    /// The tag as delivered, formatted and empty.
    ///
    /// - Parameter last: the last byte of its identifier, in place of its own.
    func contents(last: UInt8? = nil) throws -> TagContents {
        var uid = uid
        if let last { uid[identifier.count - 1] = last }
        guard let product = TagProduct(named: product) else {
            throw ConformanceFailure(description: "There is no product \(product).")
        }
        return product.blank(uid: uid)
    }

    /// The identifier that the tag reports: a Type 1 tag reports only four bytes of its UID.
    var identifier: [UInt8] { type == 1 ? Array(uid.prefix(4)) : uid }

    /// Whether a reader can lock the tag: for the capability container of a DESFire it would need a key.
    var canLock: Bool { name != "DESFire" }

    func make(last: UInt8? = nil) throws -> any VirtualTag { try contents(last: last).makeTag() }

    /// A tag of the same kind that is not formatted for NDEF.
    func makeUnformatted() throws -> any VirtualTag {
        switch try contents() {
        case .type1(var contents):
            contents.memory.replaceSubrange(8..<12, with: [0, 0, 0, 0])
            return TagContents.type1(contents).makeTag()
        case .type2(var contents):
            contents.memory.replaceSubrange(12..<16, with: [0, 0, 0, 0])
            return TagContents.type2(contents).makeTag()
        case .type3(.liteS(var contents)):
            contents.userMemory.replaceSubrange(0..<16, with: [UInt8](repeating: 0, count: 16))
            return TagContents.type3(.liteS(contents)).makeTag()
        case .type4(let contents): return VirtualType4Tag(card: ApplicationCard([]), frontEnd: contents.frontEnd)
        case .type5(var contents):
            contents.memory.replaceSubrange(0..<4, with: [0, 0, 0, 0])
            return TagContents.type5(contents).makeTag()
        default: throw ConformanceFailure(description: "A \(name) can't be made without a format.")
        }
    }
}
