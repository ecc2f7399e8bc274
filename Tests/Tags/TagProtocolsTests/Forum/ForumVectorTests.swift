// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink
import TagProtocols
import Testing

@Suite struct `Conformance images of Types 1, 3, 4 and 5` {
    /// One line of `Vectors/forum-images.jsonl`.
    struct Image: Sendable, Decodable, CustomTestStringConvertible {
        var id: String
        var type: String
        var product: String
        var note: String
        var uid: String
        var hr: String?
        var pmm: String?
        var ats: String?
        var block_size: Int?
        var memory_hex: String?
        var files: [String: String]?
        var state: String
        var ndef_hex: String?
        var capacity: Int?
        var readonly: Bool?
        var testDescription: String { "\(id): \(product), \(note)" }

        /// A tag that is made of the image.
        var tag: any ForumTag {
            let memory = bytes(memory_hex ?? "")
            switch type {
            case "T1T":
                return Type1Tag(link: ModelField(ModelTopaz(header: hr ?? "", memory: memory), .nfcA))
            case "T3T":
                var model = ModelFeliCa(memory: memory, readLimit: Int(memory[1]), writeLimit: Int(memory[2]))
                model.idm = bytes(uid)
                model.pmm = bytes(pmm ?? "")
                let target = NFCFTarget(idm: model.idm, pmm: model.pmm, systemCode: 0x12FC)
                return Type3Tag(target: target, link: ModelField(model, .nfcF))
            case "T4T":
                var model = ModelCard(files: [:])
                for (name, content) in files ?? [:] { model.files[UInt16(name, radix: 16) ?? 0] = bytes(content) }
                model.atsBytes = bytes(ats ?? "")
                model.frameSize = model.atsBytes[1] & 0x0F == 5 ? 64 : 256
                return Type4Tag(link: ISODEP(link: ModelField(model, .nfcA)))
            default:
                let model = ModelVicinity(uid: uid, memory: memory, blockSize: block_size ?? 4)
                let target = NFCVTarget(uid: bytes(uid))
                return Type5Tag(target: target, link: ModelField(model, .nfcV), isAlone: true)
            }
        }
    }

    static let images: [Image] = Vectors.images("forum-images.jsonl")

    @Test func `All images load`() {
        #expect(Self.images.count == 19)
    }

    @Test(arguments: images) func `An image is read as it has to be`(_ image: Image) async throws {
        let tag = image.tag
        do {
            let detection = try await tag.detectNDEF()
            let message = try await tag.readNDEF()
            #expect(image.state == "ok" || image.state == "empty")
            #expect(hex(message) == image.ndef_hex)
            #expect(detection.capacity == image.capacity)
            #expect((detection.access == .readOnly) == image.readonly)
        } catch {
            #expect(error.code.description == image.state)
        }
    }

    @Test(arguments: images.filter { $0.readonly != nil })
    func `A full message is written to an image, and one byte more is not`(_ image: Image) async throws {
        let capacity = try #require(image.capacity)
        let tag = image.tag
        guard image.readonly == false else {
            await #expect(throws: TagError(.readOnly, "")) { try await tag.writeNDEF(message(1)) }
            return
        }
        await #expect(throws: TagError(.messageTooLong, "")) { try await tag.writeNDEF(message(capacity + 1)) }
        for size in [capacity, 1, capacity / 2, 0] {
            try await tag.writeNDEF(message(size))
            #expect(try await tag.readNDEF() == message(size))
            #expect(try await tag.detectNDEF().messageLength == size)
        }
    }
}
