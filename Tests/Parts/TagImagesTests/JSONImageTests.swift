// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `JSON images` {
    private static let small =
        #"{"type": "T2T", "product": "Ultralight", "uid": "04a1b2c3d4e580", "memory_hex": "MEMORY"}"#

    private func image(_ text: String) throws -> TagImage {
        try TagImage(parsing: Array(text.utf8))
    }

    private func failure(_ text: String) -> TagImageError? {
        do {
            _ = try image(text)
            return nil
        } catch {
            return error as? TagImageError
        }
    }

    /// The image as JSON reads it.
    private func object(_ line: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
    }

    @Test func `Every Type 2 image loads, and its memory is answered byte for byte`() async throws {
        var count = 0
        for line in try Files.images() {
            let object = try object(line)
            guard object["type"] as? String == "T2T" else { continue }
            count += 1
            let id = try #require(object["id"] as? String)
            let image = try TagImage(parsing: line)
            #expect(try image.encoded() == line, "\(id)")
            #expect(image.product == object["product"] as? String, "\(id)")
            let memory = hex(try #require(object["memory_hex"] as? String))
            #expect(image.contents.type2?.memory == memory)

            let script = try Script(image.makeTag())
            try await script.activate(image.uid)
            if let version = object["get_version"] as? String, version.count == 16 {
                #expect(await script.send("60") == hexText(hex(version)))
            }
            var answered: [UInt8] = []
            let product = try #require(image.contents.type2?.product)
            let pages = product == .ultralightC ? 44 : memory.count / 4
            for page in 0..<pages {
                if page == 256 {
                    #expect(await script.send("c2 ff") == "ACK")
                    #expect(await script.send("01 00 00 00") == "timeout")
                }
                answered += hex(await script.send("30 " + hexText([UInt8(page % 256)]))).prefix(4)
            }
            var expected = Array(memory.prefix(pages * 4))
            // The password and its acknowledgement read as 0.
            if product.name.hasPrefix("NTAG21") || product.name.contains("EV1") {
                expected.replaceSubrange((pages * 4 - 8)..<(pages * 4 - 2), with: [0, 0, 0, 0, 0, 0])
            }
            #expect(answered == expected, "\(id)")
        }
        #expect(count == 15)
    }

    @Test func `Images of all types load, and are written as they were read`() throws {
        let numbers = ["T1T": 1, "T2T": 2, "T3T": 3, "T4T": 4, "T5T": 5]
        for line in try Files.images() {
            let object = try object(line)
            let id = try #require(object["id"] as? String)
            let image = try TagImage(parsing: line)
            #expect(try image.encoded() == line, "\(id)")
            #expect(image.tagType == numbers[try #require(object["type"] as? String)], "\(id)")
            #expect(image.product == object["product"] as? String, "\(id)")
            #expect(image.uid == hex(try #require(object["uid"] as? String)), "\(id)")
            // A new file of the same tag says the same.
            let new = try TagImage(image.contents).encoded()
            #expect(try TagImage(parsing: new).contents == image.contents, "\(id)")
            // An image of a Type 2 tag may lack pages that the tag has.
            if image.tagType != 2 { #expect(TagContents(of: image.makeTag()) == image.contents, "\(id)") }
        }
    }

    @Test func `A tag of an unknown type is refused by name`() throws {
        let error = try #require(failure(#"{"type": "T9T", "product": "X", "uid": "00", "memory_hex": "00"}"#))
        #expect(error.code == .unsupported)
        #expect(error.reason == "A tag of type T9T is not supported yet.")
    }

    @Test func `A change keeps the unknown members, and drops those about the old message`() async throws {
        let line = try #require(try Files.images().first { try object($0)["id"] as? String == "t2t-09" })
        var image = try TagImage(parsing: line)
        let tag = image.makeTag()
        let script = try Script(tag)
        try await script.activate(image.uid)
        #expect(await script.send("a2 04 de ad be ef") == "ACK")
        image.update(from: tag)
        let written = try object(image.encoded())
        #expect(written["id"] as? String == "t2t-09")
        #expect(written["state"] == nil)
        #expect(written["ndef_hex"] == nil)
        #expect((written["memory_hex"] as? String)?.dropFirst(32).hasPrefix("deadbeef") == true)
        #expect(try TagImage(parsing: image.encoded()).contents == image.contents)
    }

    @Test(arguments: Type2Product.all) func `A new tag of every product is written and read again`(
        _ product: Type2Product
    ) throws {
        var contents = Type2Contents(blank: product, uid: Script.uid)
        contents.counters = [1, 2, 0xFFFFFF]
        contents.tearingFlags = [0, 1, 2]
        contents.signature = Array(1...32)
        contents.failedAuthentications = 3
        contents.sak = 0x08
        contents.atqa = 0x0004
        let bytes = try TagImage(contents).encoded()
        #expect(bytes.last == 0x0A)
        let image = try TagImage(parsing: bytes)
        #expect(image.contents == .type2(contents))
        #expect(try image.encoded() == bytes)
        #expect(try object(bytes)["product"] as? String == product.name)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(#", "atqa": "0004", "sak": "08", "signature": "0102"#))
        let end = #""counters": [1, 2, 16777215], "tearing_flags": "000102", "failed_authentications": 3}"#
        #expect(text.hasSuffix("\(end)\n"))
    }

    @Test("What a MIFARE Classic does not show and how it is signed are in its image, where there is such a thing")
    func classics() throws {
        var card = ClassicContents(blank: .mini, uid: [1, 2, 3, 4])
        let plain = String(decoding: try TagImage(.classic(card)).encoded(), as: UTF8.self)
        #expect(plain.hasSuffix("\", \"atqa\": \"0004\", \"sak\": \"09\"}\n"))
        card.unknownBytes = [319, 0]
        card.signature = Array(repeating: 0x5A, count: 32)
        let text = String(decoding: try TagImage(.classic(card)).encoded(), as: UTF8.self)
        let signature = String(repeating: "5a", count: 32)
        #expect(text.hasSuffix("\"sak\": \"09\", \"unknown_octets\": [0, 319], \"signature\": \"\(signature)\"}\n"))
        #expect(try TagImage(parsing: Array(text.utf8)).contents == .classic(card))
    }

    @Test(
        "A tag answers GET_VERSION with the bytes of its image, unless its product has no such command",
        arguments: [("NTAG213", true), ("Ultralight", false)]
    )
    func versions(product: String, hasVersion: Bool) throws {
        let version = "0004040201000f04"
        let text = Self.small.replacing("Ultralight", with: product)
            .replacing("MEMORY", with: String(repeating: "00", count: 16))
            .replacing("}", with: ", \"get_version\": \"\(version)\"}")
        let contents = try #require(try image(text).contents.type2)
        #expect(contents.version == (hasVersion ? hex(version) : nil))
        #expect(failure(text.replacing(version, with: "00040402"))?.code == (hasVersion ? .malformed : nil))
    }

    @Test(
        "The number of pages is that of the memory, and a number up to 100000",
        arguments: [
            (4, nil), (0, .inconsistent), (5, .inconsistent), (100_000, .inconsistent), (100_001, .malformed),
            (-1, .malformed),
        ] as [(Int, TagImageError.Code?)]
    )
    func pageCounts(pages: Int, code: TagImageError.Code?) {
        let memory = String(repeating: "00", count: 16)
        let text = Self.small.replacing("MEMORY", with: memory).replacing("}", with: ", \"pages\": \(pages)}")
        #expect(failure(text)?.code == code)
    }

    @Test func `Escapes, nesting and space are read as JSON has them`() throws {
        let memory = String(repeating: "00", count: 16)
        let text = """
            {
              "t\\u0079pe" : "T2T", "product":"MIFARE Ultralight","uid":"04A1B2C3D4E580",
              "more": {"a": [1, -2.5e3, true, null, {"b": "\\"\\\\\\ud83d\\ude00"}], "c": {}}, "empty": [],
              "memory_hex": "\(memory)"
            }

            """
        let image = try image(text)
        #expect(image.contents.type2?.product == .ultralight)
        #expect(try image.encoded() == Array(text.utf8))
    }

    static let faults: [(String, TagImageError.Code)] = [
        ("", .unknownFormat), ("[]", .unknownFormat), ("{", .malformed), ("{}", .unknownFormat), ("{}{}", .malformed),
        (#"{"type": 2}"#, .malformed), (#"{"type": "T2T"}"#, .missingField), (#"{"type": "T2T",}"#, .malformed),
        (#"{"type": "T2T", "type": "T2T"}"#, .malformed), (#"{"type": "T2T" "product": ""}"#, .malformed),
        (#"{"type": "T2T", "product": "NTAG424"}"#, .unsupported), (#"{"type": "\ud800"}"#, .malformed),
        (#"{"type": "\x"}"#, .malformed), (#"{"type": tru}"#, .malformed), (#"{"type": 01x}"#, .malformed),
        (small.replacing("MEMORY", with: "00"), .malformed), (small.replacing("MEMORY", with: "0g"), .malformed),
        (small.replacing("MEMORY", with: String(repeating: "00", count: 68)), .inconsistent),
        (small.replacing("c3d4e580", with: ""), .malformed),
        (
            small.replacing("MEMORY", with: String(repeating: "00", count: 16)).replacing("}", with: #", "pages": 5}"#),
            .inconsistent
        ),
        (
            small.replacing("MEMORY", with: String(repeating: "00", count: 16)).replacing(
                "}",
                with: #", "counters": [1]}"#
            ), .malformed
        ),
        (#"{"a": "# + String(repeating: "[", count: 100_000), .malformed),
        ("{" + String(repeating: " ", count: TagImage.maximumSize), .tooLarge),
    ]

    @Test(arguments: faults) func `A fault is reported by its kind`(_ text: String, _ code: TagImageError.Code) {
        #expect(failure(text)?.code == code)
    }

    @Test func `The line of a fault is reported`() {
        #expect(failure("{\n\"type\": \"T2T\",\n\"product\": 3}")?.line == 3)
        #expect(failure("{\n\"type\":\n\n\n?")?.line == 5)
    }

    @Test func `An image that is cut off anywhere is refused`() throws {
        let line = try #require(try Files.images().first { try object($0)["id"] as? String == "t2t-09" })
        for count in 0..<line.count {
            #expect(throws: TagImageError.self) { try TagImage(parsing: Array(line.prefix(count))) }
        }
    }
}
