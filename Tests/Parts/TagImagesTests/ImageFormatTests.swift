// SPDX-License-Identifier: Apache-2.0
import NDEF
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Images of every format` {
    @Test(arguments: Files.tagFiles.indices) func `A file is of its format, and is written as it was read`(
        _ index: Int
    ) throws {
        let (name, format, product) = Files.tagFiles[index]
        let bytes = try Files.dump(name)
        let image = try TagImage(parsing: bytes)
        #expect(image.format == format, "\(name)")
        #expect(image.product == product, "\(name)")
        #expect(try image.encoded() == bytes, "\(name)")
        #expect(TagContents(of: image.makeTag())?.product == product, "\(name)")
    }

    /// The formats that a product's image is written in, the project's own aside.
    private static let formats: [String: Set<TagImage.Format>] = {
        var formats: [String: Set<TagImage.Format>] = [:]
        let all: Set<TagImage.Format> = [.flipper, .proxmarkJSON, .proxmarkBinary, .proxmarkText, .mfd]
        for product in Type2Product.all { formats[product.name] = all }
        // Without a header they look like a MIFARE Ultralight EV1.
        for name in ["NTAG210", "NTAG212", "NTAG I2C 1K"] { formats[name]?.remove(.mfd) }
        // The client's pages are counted in a byte.
        formats["NTAG I2C 2K"] = [.flipper]
        for product in ClassicProduct.allCases { formats[product.rawValue] = all }
        for name in ["ICODE SLIX", "ICODE SLIX2", "ST25TV512", "ST25TV02K", "ST25DV04K", "generic Type 5"] {
            formats[name] = [.flipper, .proxmarkJSON, .proxmarkBinary]
        }
        for name in ["FeliCa Lite-S", "generic Type 3", "DESFire EV1 2K", "DESFire EV1 4K", "DESFire EV1 8K"] {
            formats[name] = [.flipper]
        }
        formats["Topaz 96"] = [.proxmarkJSON]
        return formats
    }()

    @Test(arguments: TagProduct.all) func `A product is written where it is without loss, and refused elsewhere`(
        _ product: TagProduct
    ) throws {
        let contents = product.blank()
        for format in TagImage.Format.allCases {
            let holds = format == .json || Self.formats[product.name]?.contains(format) ?? false
            #expect(format.canHold(contents) == holds, "\(product) as \(format)")
            guard holds else {
                #expect(throws: TagImageError(.lossy, "")) { try TagImage(contents, format: format).encoded() }
                continue
            }
            let bytes = try TagImage(contents, format: format).encoded()
            let image = try TagImage(parsing: bytes, as: format)
            #expect(image.format == format, "\(product)")
            #expect(image.contents == contents, "\(product) as \(format)")
            #expect(try image.encoded() == bytes, "\(product) as \(format)")
        }
    }

    @Test(arguments: Files.tagFiles.indices) func `A file in another format has the same tag in it`(_ index: Int) throws
    {
        let (name, _, _) = Files.tagFiles[index]
        let image = try TagImage(parsing: Files.dump(name))
        for format in TagImage.Format.allCases where format.canHold(image.contents) {
            let other = try TagImage(parsing: TagImage(image.contents, format: format).encoded(), as: format)
            #expect(other.contents == image.contents, "\(name) as \(format)")
            #expect(other.uid == image.uid)
        }
        #expect(TagImage.Format.json.canHold(image.contents), "\(name)")
    }

    // MARK: What is damaged

    @Test(arguments: Files.tagFiles.indices) func `A text that is cut off anywhere is refused or whole`(
        _ index: Int
    ) throws {
        let (name, format, _) = Files.tagFiles[index]
        let bytes = try Files.dump(name)
        var places = Array(stride(from: 0, to: bytes.count, by: bytes.count / 100 + 1))
        places += (bytes.count - 20)..<bytes.count
        for count in places {
            // The last byte of a report is the end of its last line.
            if format == .tagInfo, count == bytes.count - 1 { continue }
            guard let image = try? TagImage(parsing: Array(bytes.prefix(count))) else { continue }
            // Memory without a header is a smaller product's; a Flipper file may lack its last digits and lines.
            let mayBeCut: [TagImage.Format] = [.mfd, .proxmarkBinary, .flipper]
            let isSmallerClassic = format == .proxmarkText && image.product.hasPrefix("MIFARE Classic")
            #expect(mayBeCut.contains(format) || isSmallerClassic, "\(name) of \(count) bytes")
            _ = image.makeTag()
        }
    }

    @Test(arguments: Files.tagFiles.indices) func `Flipped bits never crash, and what is read is written again`(
        _ index: Int
    ) throws {
        let (name, _, _) = Files.tagFiles[index]
        let bytes = try Files.dump(name)
        var generator = Numbers(seed: UInt64(index))
        for _ in 0..<60 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0...7, using: &generator)
            }
            guard let image = try? TagImage(parsing: damaged) else { continue }
            #expect(try image.encoded() == damaged)
            _ = image.makeTag()
        }
    }

    @Test func `A file without a known format is refused with that reason`() {
        for bytes: [UInt8] in [[], [0], Array(repeating: 0, count: 100), Array("hello".utf8), [0xFF, 0xFE, 0x00]] {
            #expect(throws: TagImageError(.unknownFormat, "")) { try TagImage(parsing: bytes) }
        }
    }

    @Test func `What a format has no place for is named`() throws {
        var contents = Type2Contents(blank: .ntag213, uid: Script.uid)
        contents.counters = [0, 0, 7]
        do throws(TagImageError) {
            _ = try TagImage(contents, format: .mfd).encoded()
            Issue.record("the counter was lost")
        } catch {
            #expect(error.reason == "An .mfd file can't hold this NTAG213 without losing the counters.")
        }
    }
}
