// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import TagProtocols
import Testing

@Suite struct `Conformance images of Type 2 tags` {
    /// One line of `Vectors/type2-images.jsonl`.
    struct Image: Sendable, Decodable, CustomTestStringConvertible {
        var id: String
        var product: String
        var note: String
        var get_version: String?
        var pages: Int
        var memory_hex: String
        var state: String
        var ndef_hex: String?
        var capacity: Int?
        var readonly: Bool?
        var testDescription: String { "\(id): \(product), \(note)" }

        var link: ModelTag {
            let memory = bytes(memory_hex)
            let version = (get_version?.count ?? 0) == 16 ? get_version : nil
            return ModelTag(
                ModelTag.Product(name: product, pageCount: pages, areaSize: memory[14], version: version),
                memory: memory
            )
        }
    }

    static let images: [Image] = Vectors.images("type2-images.jsonl")

    @Test func `All images load`() {
        #expect(Self.images.count == 15)
    }

    @Test(arguments: images) func `An image is read as it has to be`(_ image: Image) async throws {
        let link = image.link
        let tag = makeTag(link)
        do {
            let detection = try await tag.detectNDEF()
            let message = try await tag.readNDEF()
            #expect(image.state == "ok" || image.state == "empty")
            #expect(hex(message) == image.ndef_hex)
            #expect(detection.capacity == image.capacity)
            #expect((detection.access == .readOnly) == image.readonly)
            // The name is known unless the product lacks GET_VERSION and the image is too small to identify it.
            #expect(try await tag.identifyProduct() == image.product)
        } catch {
            #expect(error.code.description == image.state)
        }
    }

    @Test(arguments: images.filter { $0.readonly == false })
    func `A full message is written to an image, and one byte more is not`(_ image: Image) async throws {
        let link = image.link
        let tag = makeTag(link)
        let capacity = try #require(image.capacity)
        await #expect(throws: TagError(.messageTooLong, "")) { try await tag.writeNDEF(message(capacity + 1)) }
        #expect(link.memory == bytes(image.memory_hex))
        try await tag.writeNDEF(message(capacity))
        #expect(try await makeTag(ModelTag(link.product, memory: link.memory)).readNDEF() == message(capacity))
    }
}
