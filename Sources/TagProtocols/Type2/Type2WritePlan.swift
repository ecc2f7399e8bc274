// SPDX-License-Identifier: Apache-2.0

/// The pages to write for a message, in an order in which the tag may be lost after any of them.
///
/// 1. The page with the length's first octet, with length 0: from here on the tag is empty. Left out when it is.
/// 2. All other pages: data, terminator, and the length's other octets when they fall into another page.
/// 3. The page with the length's first octet, as it shall be: from here on the tag has the message.
///
/// Where the length and the whole message share a page, one write changes the old message for the new one, and a
/// terminator in the next page comes after it. Pages that are known to hold what they shall are left out.
struct Type2WritePlan {
    /// One WRITE.
    struct Step: Equatable {
        var page: Int
        var octets: [UInt8]
    }

    private let layout: Type2Layout
    private let message: [UInt8]
    /// The octets from the length on, and the terminator where there is room for it.
    private let target: [Int: UInt8]
    private let lastMessageAddress: Int

    /// Lays a message out.
    ///
    /// - Parameters:
    ///   - message: the message; not longer than the capacity.
    ///   - layout: where it goes.
    init(_ message: [UInt8], layout: Type2Layout) {
        self.layout = layout
        self.message = message
        let count = message.count
        let length = count <= 254 ? [UInt8(count)] : [0xFF, UInt8(count >> 8), UInt8(count & 0xFF)]
        let octets = length + message
        self.lastMessageAddress = layout.addresses[octets.count]
        // The dictionary's keys are unique: addresses ascend.
        self.target = Dictionary(
            uniqueKeysWithValues: zip(layout.addresses.dropFirst(), octets + [Self.terminator])
        )
    }

    static let terminator: UInt8 = 0xFE

    /// The address of the length's first octet.
    private var lengthAddress: Int { layout.addresses[1] }
    private var lengthPage: Int { lengthAddress / Type2Memory.pageSize }

    /// All pages that hold an octet of the new TLV, ascending.
    var pages: [Int] {
        Set(target.keys.map { $0 / Type2Memory.pageSize }).sorted()
    }

    /// The pages that hold octets which stay as they are: what comes before the TLV, and lock and reserved octets.
    var pagesToPreserve: [Int] {
        let data = Set(layout.addresses.dropFirst())
        return pages.filter { page in
            (0..<Type2Memory.pageSize).contains { !data.contains(page * Type2Memory.pageSize + $0) }
        }
    }

    /// The writes, in their order.
    ///
    /// - Parameter memory: what is on the tag now; it knows ``pagesToPreserve``.
    func steps(_ memory: Type2Memory) -> [Step] {
        let length = Step(page: lengthPage, octets: content(of: lengthPage, memory))
        let others = pages.filter { $0 != lengthPage }
            .map { Step(page: $0, octets: content(of: $0, memory)) }
            .filter { memory[page: $0.page] != $0.octets }
        if lastMessageAddress / Type2Memory.pageSize == lengthPage {
            return [length] + others
        }
        guard memory[octet: lengthAddress] != 0 else { return others + [length] }
        var emptied = memory[page: lengthPage] ?? length.octets
        emptied[lengthAddress % Type2Memory.pageSize] = 0
        return [Step(page: lengthPage, octets: emptied)] + others + [length]
    }

    /// A page as it shall be. Octets behind the terminator stay as they are known, or become 0.
    private func content(of page: Int, _ memory: Type2Memory) -> [UInt8] {
        (0..<Type2Memory.pageSize).map { index in
            let address = page * Type2Memory.pageSize + index
            return target[address] ?? memory[octet: address] ?? 0
        }
    }
}
