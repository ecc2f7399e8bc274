// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// The conformance images of all types, on virtual tags: what a reader finds, and what it writes.
struct VectorTests {
    /// One line of a file of images.
    struct Image: Sendable, Decodable, CustomTestStringConvertible {
        var id: String
        var product: String
        var note: String
        var state: String
        var ndef_hex: String?
        var capacity: Int?
        var readonly: Bool?
        var line: [UInt8] = []

        enum CodingKeys: CodingKey { case id, product, note, state, ndef_hex, capacity, readonly }

        var testDescription: String { "\(id): \(product), \(note)" }
    }

    private static func images(_ name: String) -> [Image] {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors/\(name)")
        let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            var image = try? JSONDecoder().decode(Image.self, from: Data(line.utf8))
            image?.line = Array(line.utf8)
            return image
        }
    }

    private static let type2 = images("type2-images.jsonl")
    private static let images = type2 + images("forum-images.jsonl")

    @Test func `Conformance images: all of them can be read`() {
        #expect(Self.type2.count == 15 && Self.images.count == 15 + 19)
    }

    @Test(arguments: images)
    func `Conformance image: the tag has the listed message, capacity, access and product, or the listed error`(
        image: Image
    ) async throws {
        let tag = try TagImage(parsing: image.line).makeTag()
        let reader = try await ProductBench(tag).reader
        do {
            let detection = try await reader.detectNDEF()
            #expect(hex(try await reader.readNDEF()) == image.ndef_hex)
            #expect(["ok", "empty"].contains(image.state) && detection.capacity == image.capacity)
            #expect((detection.access == .readOnly) == image.readonly)
            if let type2 = reader as? Type2Tag { #expect(try await type2.identifyProduct() == image.product) }
        } catch { #expect(error.code.description == image.state) }
    }

    @Test(arguments: images.filter { $0.readonly == false && $0.state != "write-in-progress" })
    func `Conformance image: messages up to its capacity are written, and read again from the saved image`(image: Image)
        async throws
    {
        var file = try TagImage(parsing: image.line)
        let tag = file.makeTag()
        let bench = try await ProductBench(tag)
        let capacity = try #require(image.capacity)
        #expect(await errorCode { try await bench.reader.writeNDEF(message(capacity + 1)) } == .messageTooLong)
        #expect(bench.field.writeCount == 0)
        for size in [capacity, 0, capacity / 2] {
            try await bench.reader.writeNDEF(message(size))
            file.update(from: tag)
            let again = try TagImage(parsing: file.encoded())
            #expect(try await ProductBench(again.makeTag()).reader.readNDEF() == message(size))
        }
    }
}
