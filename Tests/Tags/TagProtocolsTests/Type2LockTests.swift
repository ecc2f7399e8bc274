// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualTags

@testable import TagProtocols  // products and their lock bits are internal tables

/// Products of Type 2, their lock bits, and what is refused before it would be half done (NFC Forum T2T 1.2, 4 and 6.5;
/// NXP's data sheets).
struct Type2LockTests {
    /// A product with a message, and other bytes in its memory.
    private static func tag(_ product: Type2Product, _ message: [UInt8] = [], _ changes: [(Int, UInt8)])
        -> VirtualType2Tag
    {
        var contents = Type2Contents(blank: product, uid: [4, 1, 2, 3, 4, 5, 6])
        if !message.isEmpty { contents.memory = contents.memory.placing(messageTLV(message), at: 16, end: 64) }
        for (address, byte) in changes { contents.memory[address] = byte }
        return VirtualType2Tag(contents)
    }

    // MARK: Products

    /// Type, subtype, major and minor version and size of GET_VERSION; the product, its size byte, and where it has them the
    /// address, number and mask of its dynamic lock bits, the last bit's pages, and the page of its password.
    private static let products = """
        030101000b MIFARE Ultralight EV1 UL11 | 06
        030104000f MIFARE Ultralight AES | 12 160 12 ff0f3f 38-40 41
        030101000e MIFARE Ultralight EV1 UL21 | 10 144 10 ff031f 34-36 37
        040101000b NTAG210 | 06
        040101000e NTAG212 | 10 144 10 ff031f 34-36 37
        040201000f NTAG213 | 12 160 12 ff0f3f 38-40 41
        0402010011 NTAG215 | 3e 520 8 ff000f 128-130 131
        0402010013 NTAG216 | 6d 904 14 ff3f7f 224-226 227
        040204000f NTAG 223 DNA | 12 160 12 ff0f3f 38-40 41
        0402050010 NTAG 224 DNA | 1a 224 10 ff031f 52-56 57
        0405020113 NTAG I2C 1K | 6d 904 14 ff3f7f 224-226 none
        0405020213 NTAG I2C plus 1K | 6d 904 14 ff3f7f 224-226 227
        0405020115 NTAG I2C 2K | ea 1920 15 ff7fff 464-480 none
        0405020215 NTAG I2C plus 2K | 6d 904 14 ff3f7f 224-226 227
        """

    private static func product(_ version: String, vendor: String = "04") -> Type2Product? {
        Type2Product(version: bytes("00" + vendor + version + "03"))
    }

    @Test func `Type 2 products: GET_VERSION gives the name, the size and the lock bits of the data sheet`() throws {
        for row in Self.products.split(separator: "\n") {
            let sides = row.split(separator: "|")
            let product = try #require(Self.product(String(row.prefix(10))), "\(row)")
            var found = "\(row.prefix(10)) \(product.name) | " + hex([product.capabilitySize])
            if let lock = product.writeRestrictions, let last = lock.bits.last {
                found += " \(lock.address) \(lock.bits.count) \(hex(lock.mask)) "
                found += "\(last.pages.lowerBound)-\(last.pages.upperBound) "
                found += lock.protectionPage.map { "\($0)" } ?? "none"
                #expect(lock.bits.first?.pages.lowerBound == 16 && product.endPage == lock.address / 4)
                #expect(zip(lock.bits, lock.bits.dropFirst()).allSatisfy { $0.pages.upperBound == $1.pages.lowerBound })
            } else {
                #expect(product.endPage == 16 && product.writeRestrictions?.pages.isEmpty == true, "\(sides[0])")
            }
            #expect(found == row && product.features.contains(.fastRead))
        }
        for other in ["0405020016", "0402010012", "050101000f", "0301010010"] { #expect(Self.product(other) == nil) }
        #expect(Self.product("040201000f", vendor: "05") == nil)
        #expect(Type2Product(version: [UInt8](repeating: 4, count: 7)) == nil)
    }

    /// GET_VERSION without its first two bytes and its last; the name, and the product with the same memory (Proxmark3,
    /// `cmdhfmfu.c`; NXP AN10833).
    private static let relatives = """
        030102000b MIFARE Ultralight Nano | -
        030202000b MIFARE Ultralight Nano | -
        030103000b MIFARE Ultralight Nano | -
        030104000f MIFARE Ultralight AES | MIFARE Ultralight AES
        030304000f MIFARE Ultralight AES | MIFARE Ultralight AES
        030201000b MIFARE Ultralight EV1 UL11 | MIFARE Ultralight EV1 UL11
        040102000b NTAG 210µ | -
        040202000b NTAG 210µ | -
        040201000b NTAG210 | NTAG210
        040401000f NTAG213F | NTAG213
        0404010013 NTAG216F | NTAG216
        040203000f NTAG 213 TT | NTAG213
        040201010f NTAG213 | NTAG213
        040204000f NTAG 223 DNA | NTAG 223 DNA
        040804000f NTAG 223 DNA StatusDetect | -
        0402050010 NTAG 224 DNA | NTAG 224 DNA
        0408050010 NTAG 224 DNA StatusDetect | -
        0402010111 NTAG215 | NTAG215
        """

    @Test func `Type 2 products of the same type and size: each has its own name by GET_VERSION`() async throws {
        for row in Self.relatives.split(separator: "\n") {
            let version = "0004\(row.prefix(10))03"
            let product = Type2Product(version: bytes(version))?.name ?? "-"
            let name = try await makeTag(ScriptedLink(exchanges: "> 60 < \(version)")).identifyProduct()
            #expect("\(row.prefix(10)) \(name ?? "-") | \(product)" == row)
        }
    }

    @Test(arguments: Type2Product.all)
    func `Type 2 products: identifyProduct() on a tag of each product gives its name`(product: Type2Product)
        async throws
    {
        let tag = try await ProductBench(VirtualType2Tag(product)).reader as? Type2Tag
        #expect(try await tag?.identifyProduct() == product.name)
    }

    /// The container's size byte, a lock control TLV, and the address and number of the lock bits of an NXP tag that has no
    /// GET_VERSION, and of another maker's; - without dynamic lock bits.
    @Test(arguments: [
        ("06", "", "-", "-"), ("07", "", "72 1", "72 1"), ("10", "", "144 10", "144 10"),
        ("11", "231034", "35 16", "35 16"), ("12", "", "160 6", "160 12"), ("12", "a00c34", "160 12", "160 12"),
        ("12", "a01044", "160 6", "160 16"), ("3e", "", "520 8", "512 56"), ("6d", "", "904 14", "888 103"),
        ("ea", "", "1920 15", "1888 228"),
    ]) func `Type 2 lock bits: at the product's place, else the control TLV's, else behind the data area`(
        size: String,
        control: String,
        nxp: String,
        other: String
    ) async throws {
        for (uid, wanted) in [("04a1b2c3d4e580", nxp), ("02a1b2c3d4e580", other)] {
            let area = (control.isEmpty ? "" : "0103" + control) + "0300fe000000"
            let link = ScriptedLink(
                exchanges: "> 3003 < e110\(size)00 \(area) {8}".replacing("{8}", with: control.isEmpty ? "{6}" : "00")
            )
            let tag = makeTag(link, uid: uid)
            _ = try await tag.detectNDEF()
            let lock = tag.suggestedDynamicLock()
            let found = lock.map { $0.bits.isEmpty ? "-" : "\($0.address) \($0.bits.count)" } ?? "-"
            #expect(found == wanted, "\(uid)")
        }
    }

    // MARK: Locking

    /// A product, and its dynamic lock page after a lock.
    @Test(arguments: [
        ("MIFARE Ultralight C", 40, "ff000000"), ("NTAG203", 40, "ff000000"), ("NTAG212", 36, "ff031fbd"),
        ("MIFARE Ultralight EV1 UL21", 36, "ff031fbd"), ("NTAG213", 40, "ff0f3fbd"), ("NTAG215", 130, "ff000fbd"),
        ("NTAG216", 226, "ff3f7fbd"), ("NTAG 224 DNA", 56, "ff031fbd"), ("NTAG I2C 1K", 226, "ff3f7f00"),
        ("NTAG I2C 2K", 480, "ff7fff00"),
    ])
    func `Type 2 lock: every lock bit of the product is set, and every page of the message refuses a write`(
        name: String,
        page: Int,
        bits: String
    ) async throws {
        let tag = try #require(try ProductModel.named(name).make(message(40)) as? VirtualType2Tag)
        let bench = try await ProductBench(tag)
        try await bench.reader.lock()
        let memory = tag.contents.memory
        #expect(memory[10..<12] == [0xFF, 0xFF] && memory[15] == 0x0F)
        #expect(hex(memory[page * 4..<page * 4 + 4]) == bits)
        #expect(Set(tag.contents.lockedPages).isSuperset(of: 3..<tag.product.userPages.upperBound))
    }

    /// Checks and locks a tag: both fail with the code and change nothing, or the tag is locked.
    private static func expectLock(_ tag: VirtualType2Tag, _ code: TagError.Code?, _ about: String) async throws {
        let before = tag.contents.memory
        let bench = try await ProductBench(tag)
        #expect(await errorCode { try await bench.reader.checkLocking() } == code, "\(about)")
        #expect(tag.contents.memory == before && bench.field.writeCount == 0, "\(about)")
        let other = try await ProductBench(tag)
        #expect(await errorCode { try await other.reader.lock() } == code, "\(about)")
        if code != nil {
            #expect(tag.contents.memory == before, "\(about)")
        } else {
            let end = min(tag.product.userPages.upperBound, 3 + Int(before[14]) * 2)
            #expect(Set(tag.contents.lockedPages).isSuperset(of: 3...end), "\(about)")
        }
    }

    /// The product, the address of AUTH0, and the first pages from which it leaves the lock bits open and closes them.
    private static let passwords: [(Type2Product, Int, UInt8, UInt8)] = [
        (.ntag210, 16 * 4 + 3, 4, 3), (.ultralightEV1UL11, 16 * 4 + 3, 16, 2), (.ntag212, 37 * 4 + 3, 37, 36),
        (.ultralightEV1UL21, 37 * 4 + 3, 37, 4), (.ntag213, 41 * 4 + 3, 41, 40), (.ntag215, 131 * 4 + 3, 131, 130),
        (.ntag216, 227 * 4 + 3, 0xFF, 4), (.ultralightC, 42 * 4, 41, 40),
    ]

    @Test func `Type 2 lock: lock bits behind a password throw keyNeeded before anything is written`() async throws {
        for (product, address, open, closed) in Self.passwords {
            let isUltralightC = product.name == "MIFARE Ultralight C"
            // ACCESS, or AUTH1 of Ultralight C, with which everybody can read, or not.
            let access = isUltralightC ? 43 * 4 : address + 1
            for value in isUltralightC ? [0, 1] as [UInt8] : [0] {
                let about = "\(product), \(value)"
                try await Self.expectLock(
                    Self.tag(product, [], [(address, closed), (access, value)]),
                    .keyNeeded,
                    about
                )
                try await Self.expectLock(Self.tag(product, [], [(address, open), (access, value)]), nil, about)
            }
            guard !isUltralightC, closed > 4 else { continue }
            // The lock bits can't even be read.
            let hidden = Self.tag(product, [], [(address, closed), (access, 0x80)])
            try await Self.expectLock(hidden, .keyNeeded, "\(product), hidden")
        }
    }

    /// Bytes of the memory, and the error. One bit freezes the lock bits of page 3, one those of 4 to 9, one of 10 to 15;
    /// an area of 24 bytes ends in page 9.
    private static let frozen: [(Type2Product, [(Int, UInt8)], TagError.Code?)] = [
        (.ultralight, [(10, 0x01)], .unsupported), (.ultralight, [(10, 0x02)], .unsupported),
        (.ultralight, [(10, 0x07)], .unsupported), (.ntag203, [(10, 0x04)], .unsupported),
        (.ntag213, [(10, 0x04)], .unsupported), (.ultralightC, [(10, 0x02)], .unsupported),
        (.ultralight, [(10, 0xF2), (11, 0x03)], nil), (.ntag213, [(10, 0xF2), (11, 0x03)], nil),
        (.ultralight, [(10, 0xF2), (11, 0x01)], .unsupported), (.ultralight, [(10, 0xE2), (11, 0x03)], .unsupported),
        (.ultralight, [(10, 0xF2), (11, 0x02)], .unsupported), (.ultralight, [(10, 0x04), (11, 0xFC)], nil),
        (.ultralight, [(10, 0x04), (11, 0xF8)], .unsupported), (.ultralight, [(10, 0x04), (11, 0x7C)], .unsupported),
        (.ultralight, [(14, 0x03), (10, 0x04)], nil), (.ultralight, [(14, 0x03), (10, 0x02)], .unsupported),
        (.ultralight, [(14, 0x03), (10, 0xF2), (11, 0x03)], nil),
        // Dynamic lock bits.
        (.ntag213, [(162, 0x01)], .unsupported), (.ntag213, [(162, 0x20)], .unsupported),
        (.ntag213, [(160, 0x03), (162, 0x01)], nil), (.ntag213, [(160, 0x01), (162, 0x01)], .unsupported),
        (.ntag215, [(522, 0x08)], .unsupported), (.ultralightC, [(160, 0x01)], .unsupported),
        (.ultralightC, [(160, 0x10)], .unsupported), (.ultralightC, [(160, 0x0F)], nil), (.ntag203, [(160, 0xF0)], nil),
        (.ntag203, [(160, 0x70)], .unsupported),
        // A container that is locked and grants writing.
        (.ntag213, [(10, 0x08)], .unsupported),
    ]

    @Test func `Type 2 lock: a frozen lock bit of an open page throws unsupported before anything is written`()
        async throws
    {
        for (product, changes, code) in Self.frozen {
            try await Self.expectLock(Self.tag(product, [], changes), code, "\(product), \(changes)")
        }
    }

    // MARK: Writing what would be refused

    private static func expectWrite(
        _ product: Type2Product,
        _ changes: [(Int, UInt8)],
        size: Int,
        _ code: TagError.Code?,
        hasVersion: Bool = true
    ) async throws {
        var contents = Self.tag(product, message(3), changes).contents
        if !hasVersion { contents.version = nil }
        let tag = VirtualType2Tag(contents)
        let about = "\(product), \(changes), \(size) bytes"
        let bench = try await ProductBench(tag)
        let new = message(size, seed: 0xFF)
        #expect(await errorCode { try await bench.reader.writeNDEF(new) } == code, "\(about)")
        guard code == nil else {
            #expect(tag.contents.memory == contents.memory && bench.field.writeCount == 0, "\(about)")
            return
        }
        #expect(try await ProductBench(tag).reader.readNDEF() == new, "\(about)")
    }

    @Test func `Type 2 write: a locked page or a password under the message throws before anything is written`()
        async throws
    {
        // Pages 4 to 16, and 16 and 17 by the first dynamic bit.
        for (address, bits, size, code): (Int, UInt8, Int, TagError.Code?) in [
            (10, 0x20, 9, .readOnly), (11, 0x80, 60, .readOnly), (11, 0x80, 9, nil), (160, 1, 60, .readOnly),
            (160, 1, 40, nil),
        ] { try await Self.expectWrite(.ntag213, [(address, bits)], size: size, code) }
        for (product, address, _, _) in Self.passwords where product.name != "NTAG216" {
            let isUltralightC = product.name == "MIFARE Ultralight C"
            // Messages of 20 bytes end in page 9. Everybody can read.
            for first in [5, 6, 9, 10, 15] as [UInt8] {
                let changes: [(Int, UInt8)] = [(address, first)] + (isUltralightC ? [(43 * 4, 1)] : [])
                try await Self.expectWrite(product, changes, size: 20, first <= 9 ? .keyNeeded : nil)
            }
        }
        try await Self.expectWrite(.ntag215, [(131 * 4 + 3, 100)], size: 400, .keyNeeded)
        try await Self.expectWrite(.ntag215, [(131 * 4 + 3, 100)], size: 300, nil)
    }

    @Test func `Type 2 write of a single page: no check before it, and a refused write has changed nothing`()
        async throws
    {
        let tag = Self.tag(.ntag213, message(3), [(41 * 4 + 3, 4)])
        let before = tag.contents.memory
        let bench = try await ProductBench(tag)
        let start = bench.link.statistics.exchanges
        #expect(await errorCode { try await bench.reader.writeNDEF([0xAA]) } == .updateFailed)
        #expect(bench.link.statistics.exchanges == start + 2 && tag.contents.memory == before)
        #expect(try await bench.reader.readNDEF() == message(3))
    }

    @Test func `Type 2 write: with a container larger than the chip, no message reaches lock bits or passwords`()
        async throws
    {
        for (last, code): (Int, TagError.Code?) in [
            (38, nil), (39, .messageTooLong), (42, .messageTooLong), (43, .messageTooLong),
        ] {
            // The message and its TLV end in this page; the terminator follows in the next one.
            for product in [Type2Product.ntag213, .ntag203, .ultralightC] {
                for size in [0x3E, 0xFF] as [UInt8] {
                    try await Self.expectWrite(product, [(14, size)], size: (last + 1) * 4 - 18, code)
                }
            }
        }
        try await Self.expectWrite(.ntagI2C1K, [(14, 0xFF)], size: 1000, .messageTooLong)
        try await Self.expectWrite(.ntag210, [(14, 0x12)], size: 60, .messageTooLong)
    }

    @Test func `Type 2 write to a copy without GET_VERSION: the chip is not taken for a smaller product`() async throws
    {
        // The lock bit is for the last pages, and the messages end in pages 29, 42 and 54.
        for (product, size, lock): (Type2Product, UInt8, UInt8) in [
            (.ntag215, 0x3F, 0x00), (.ntag216, 0x6F, 0x00), (.ntag216, 0x6D, 0x20),
        ] {
            let address = (product == .ntag215 ? 130 : 226) * 4 + 1
            for count in [100, 150, 200] {
                try await Self.expectWrite(product, [(14, size), (address, lock)], size: count, nil, hasVersion: false)
            }
        }
    }

    // MARK: Formatting

    /// Page 3, the start of the data area, the static lock bits of pages 3 to 7, and the error or the pages that are written.
    @Test(arguments: [
        ("e1101200 {8}", "00", "4 5"), ("e1101200 fe{7}", "08", "4 5"), ("e0100000 {8}", "00", "4 5 3"),
        ("00000000 {8}", "00", "4 5 3"), ("e0101200 {8}", "00", "4 5 3"), ("ff000000 {8}", "00", "unsupported"),
        ("00200000 {8}", "00", "unsupported"), ("00001300 {8}", "00", "unsupported"),
        ("0000000f {8}", "00", "unsupported"), ("00000000 {8}", "08", "read-only"), ("00000000 {8}", "10", "read-only"),
        ("00000000 {8}", "20", "read-only"), ("e110120f {8}", "00", "read-only"),
    ]) func `Type 2 format: an NTAG213 gets its container and TLVs where its bits allow it, page 3 last`(
        start: String,
        locks: String,
        result: String
    ) async throws {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory.replaceSubrange(12..<24, with: bytes(start))
        contents.memory[10] = bytes(locks)[0]
        let tag = VirtualType2Tag(contents)
        let bench = try await ProductBench(tag)
        bench.field.startRecording()
        let code = await errorCode { try await format(bench.reader) }
        let written = bench.field.stopRecording().map(\.request.bytes).filter { $0.first == 0xA2 }
        #expect(code?.description ?? written.map { "\($0[1])" }.joined(separator: " ") == result)
        guard code == nil else {
            #expect(written.isEmpty)
            return
        }
        #expect(hex(tag.contents.memory[12..<24]) == "e11012000103a00c340300fe")
    }
}
