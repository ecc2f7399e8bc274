// SPDX-License-Identifier: Apache-2.0
import NDEF
import PeerSupport
import Testing
import VirtualTags

@Suite(.enabled(if: PythonInterpreter.path != nil, Comment(rawValue: PythonInterpreter.reason)))
struct `ndeflib and our codec` {
    @Test func `nfcpy and this library: the same bytes for the same records, both ways`() async throws {
        let datagrams = try DatagramField(VirtualType2Tag(.ntag216))
        let peer = try Nfcpy(datagrams, bitRate: "106A")
        for sample in try Sample.all() {
            let bytes = try sample.message.encoded()
            let expected = Answer.Message(
                bytes: bytes.hexadecimal,
                records: sample.records,
                again: bytes.hexadecimal
            )
            #expect(try await peer.ask(.encode(sample.records)).message == expected, "\(sample)")
            #expect(try await peer.ask(.decode(bytes)).message == expected, "\(sample)")
        }
        try await peer.finish()
    }

    /// Types 1, 2, 3, 4A and 4B, one product each.
    private static let products = Product.all.filter {
        ["Topaz 512", "NTAG216", "DESFire EV1 2K", "generic Type 4B"].contains($0.name) || $0.name.contains("transit")
    }

    @Test(arguments: products)
    func `Records that nfcpy writes to a tag: read as they were given`(_ product: Product) async throws {
        let datagrams = try DatagramField(product.make())
        let peer = try Nfcpy(datagrams, bitRate: product.bitRate)
        let reader = OwnReader(field: datagrams.field)
        let capacity = try await reader.capacity()
        for sample in try Sample.all() where sample.message.encodedLength <= capacity {
            _ = try await peer.ask(.write(sample.records))
            let message = try NDEFMessage(decoding: try await reader.read())
            #expect(message == sample.message, "\(sample)")
            #expect(try await peer.ask(.read).message?.records == sample.records, "\(sample)")
        }
        try await peer.finish()
    }
}
