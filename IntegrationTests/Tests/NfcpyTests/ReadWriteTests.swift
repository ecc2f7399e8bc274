// SPDX-License-Identifier: Apache-2.0
import NDEF
import PeerSupport
import Testing
import VirtualTags

@Suite(.enabled(if: PythonInterpreter.path != nil, Comment(rawValue: PythonInterpreter.reason)))
struct `nfcpy and virtual tags` {
    /// Lengths of messages: short ones, those at which the length field grows, and those that fill the tag.
    private static func lengths(_ capacity: Int) -> [Int] {
        Set([20, 253, 254, 255, 256, capacity - 1, capacity]).filter { $0 <= capacity }.sorted() + [12]
    }

    @Test(arguments: Product.all)
    func `nfcpy and this library: each reads what the other writes`(_ product: Product) async throws {
        let tag = product.make()
        let datagrams = try DatagramField(tag)
        let peer = try Nfcpy(datagrams, bitRate: product.bitRate)
        let reader = OwnReader(field: datagrams.field)

        let capacity = try await reader.capacity()
        let blank = try await peer.ask(.read)
        #expect(blank.type == product.type)
        #expect(blank.product == product.recognized)
        // nfcpy knows only the four bytes of a Type 1 tag's UID that RID returns.
        let identifier = product.type == "Type1Tag" ? Array(tag.identifier.prefix(4)) : tag.identifier
        #expect(blank.identifier == identifier.hexadecimal)
        #expect(blank.capacity == capacity)
        #expect(blank.readable == true)
        #expect(blank.writable == true)
        #expect(blank.message?.bytes == "")

        for length in Self.lengths(capacity) {
            let sample = Sample.filling(length, seed: 1)
            let bytes = try sample.message.encoded()
            try #require(bytes.count == length)

            // The peer writes; the memory, our reader and the peer itself must agree.
            _ = try await peer.ask(.write(bytes))
            #expect(tag.holds(bytes), "\(length) bytes")
            #expect(try await reader.read() == bytes)
            let again = try await peer.ask(.read)
            #expect(
                again.message == .init(bytes: bytes.hexadecimal, records: sample.records, again: bytes.hexadecimal)
            )

            // Our reader writes; the peer reads.
            let own = Sample.filling(length, seed: 99)
            let ownBytes = try own.message.encoded()
            try await reader.write(ownBytes)
            #expect(tag.holds(ownBytes), "\(length) bytes")
            let answer = try await peer.ask(.read)
            #expect(
                answer.message
                    == .init(bytes: ownBytes.hexadecimal, records: own.records, again: ownBytes.hexadecimal)
            )
        }

        // Our reader empties the tag, because nfcpy does not write empty messages.
        try await reader.write([])
        #expect(try await peer.ask(.read).message?.bytes == "")
        try await peer.finish()
    }
}
