// SPDX-License-Identifier: Apache-2.0
import TagProtocols
import Testing
import VirtualTags

/// Tags that need a password for reading too: PROT of NTAG21x and Ultralight EV1, AUTH1 of Ultralight C.
@Suite struct `A Type 2 tag that can be read only with its password` {
    /// A tag with a message, whose memory needs the password from a page on.
    private static func tag(_ product: Type2Product, from page: UInt8) throws -> VirtualType2Tag {
        var contents = Type2Contents(blank: product, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory = contents.memory.placing(messageTLV(message(100)), at: 16, end: 160)
        let first = try #require(product.firstConfigurationPage) * 4
        if product.name == "MIFARE Ultralight C" {
            contents.memory[first] = page
        } else {
            contents.memory[first + 3] = page
            contents.memory[first + 4] = 0x80
        }
        return VirtualType2Tag(contents)
    }

    private static let products: [Type2Product] = [.ntag213, .ultralightC]

    @Test(arguments: products, [3, 4, 5, 6, 15, 20] as [UInt8])
    func `says so, when it is read and when it is written`(product: Type2Product, page: UInt8) async throws {
        let tag = try Self.tag(product, from: page)
        let before = tag.contents.memory
        let reader = try await ProductBench(tag).reader
        await #expect(throws: TagError(.readProtected, "")) { try await reader.readNDEF() }
        let survey = try await ProductBench(tag).reader.surveyNDEF()
        #expect(survey.message == nil && survey.error?.code == .readProtected)
        #expect(survey.error?.reason.contains("password") == true)
        let writer = try await ProductBench(tag).reader
        let error = await #expect(throws: TagError.self) { try await writer.writeNDEF(message(100, seed: 0xFF)) }
        #expect(error?.code == .readProtected || error?.code == .readOnly, "\(String(describing: error))")
        #expect(tag.contents.memory == before)
    }

    @Test func `A page that a small tag does not have is behind its end, and needs no password`() async throws {
        var contents = Type2Contents(blank: .ultralight, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory.replaceSubrange(12..<20, with: [0xE1, 0x10, 0x12, 0x00, 0x03, 0x64, 0x00, 0x00])
        let reader = try await ProductBench(VirtualType2Tag(contents)).reader
        await #expect(throws: TagError(.lengthOverrun, "")) { try await reader.readNDEF() }
    }
}
