// SPDX-License-Identifier: Apache-2.0
import NDEF
import PeerSupport
import Testing
import VirtualTags

/// Deviations of nfcpy 1.0.4 from the specifications, so that differences in the other tests are not among them.
@Suite(.enabled(if: PythonInterpreter.path != nil, Comment(rawValue: PythonInterpreter.reason)))
struct `Faults of nfcpy` {
    /// With 257 bytes from the TLV on, a length field of one byte leaves room for 254 bytes, and one of three for 253. nfcpy
    /// uses the latter (correct only from 259 on).
    @Test func `nfcpy's fault: the capacity of a TLV area with 257 bytes is one byte short`() async throws {
        var contents = Type2Contents(blank: .ntag215, uid: [0x04, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06])
        // 264 bytes, the TLV starts at the eighth.
        contents.memory[14] = 33
        contents.memory.replaceSubrange(16..<26, with: [0, 0, 0, 0, 0, 0, 0, 0x03, 0x00, 0xFE])
        let datagrams = try DatagramField(VirtualType2Tag(contents))
        let peer = try Nfcpy(datagrams, bitRate: "106A")
        let reader = OwnReader(field: datagrams.field)
        #expect(try await reader.capacity() == 254)
        #expect(try await peer.ask(.read).capacity == 253)
        // nfcpy still reads the message that it considers impossible.
        let bytes = try Sample.filling(254, seed: 5).message.encoded()
        try await reader.write(bytes)
        #expect(try await peer.ask(.read).message?.bytes == bytes.hexadecimal)
        let answer = try await peer.attempt(.write(bytes))
        #expect(answer.error == "ValueError: data length exceeds tag capacity")
        try await peer.finish()
    }

    /// The lock control TLV of a Topaz 512 says bytes 122 to 127; bytes 120 and 121 are reserved. nfcpy locks those
    /// two, and leaves the 48 blocks of the upper memory open.
    @Test func `nfcpy's fault: protecting a Topaz 512 leaves the lock bits of its upper memory open`() async throws {
        let tag = VirtualType1Tag(.topaz512)
        let datagrams = try DatagramField(tag)
        let peer = try Nfcpy(datagrams, bitRate: "106A")
        #expect(try await peer.ask(.protect).done == true)
        let memory = tag.contents.memory
        #expect(memory[11] == 0x0F)
        #expect(memory[112..<114] == [0xFF, 0xFF])
        #expect(memory[120..<122] == [0xFF, 0xFF])
        #expect(memory[122..<128] == [0, 0, 0, 0, 0, 0])
        // For readers that check the capability container, the tag is read-only.
        #expect(try await OwnReader(field: datagrams.field).isReadOnly())
        #expect(try await peer.ask(.read).writable == false)
        try await peer.finish()
    }

    /// On a Topaz 512 the length field of three bytes begins in one block and ends in the next. nfcpy writes the first
    /// block first, so that FF precedes an old length until the second write.
    @Test func `nfcpy's fault: a write cut within a split length field leaves a broken message`() async throws {
        let old = try Sample.filling(300, seed: 1).message.encoded()
        let new = try Sample.filling(400, seed: 2).message.encoded()
        let states = try await states(cutting: .write(new), from: old)
        #expect(states.count > 50)
        #expect(states.filter { $0 != old && $0 != [] && $0 != new }.count == 1)
    }

    /// The content of a Topaz 512 when a task of nfcpy is cut after each of its writes.
    private func states(cutting request: Request, from old: [UInt8]) async throws -> [[UInt8]?] {
        let tag = VirtualType1Tag(.topaz512)
        try await OwnReader(field: fieldWith(tag)).write(old)
        let datagrams = try DatagramField(tag)
        let peer = try Nfcpy(datagrams, bitRate: "106A")
        var states: [[UInt8]?] = []
        for cut in 0..<200 {
            let copy = VirtualType1Tag(tag.contents)
            datagrams.field.removeAll()
            datagrams.field.bring(copy)
            datagrams.field.arm(.tear(afterWrite: cut))
            if try await peer.attempt(request).ok { break }
            states.append(try? await OwnReader(field: fieldWith(VirtualType1Tag(copy.contents))).read())
        }
        try await peer.finish()
        return states
    }

    private func fieldWith(_ tag: VirtualType1Tag) -> VirtualField {
        let field = VirtualField()
        field.bring(tag)
        return field
    }

    /// nfcpy takes its counter from a loop over the bytes, which does not run for an empty message.
    @Test(arguments: Product.type1 + [Product.type2[0]])
    func `nfcpy's fault: a message of no bytes can't be written to Types 1 and 2`(_ product: Product) async throws {
        let datagrams = try DatagramField(product.make())
        let peer = try Nfcpy(datagrams, bitRate: product.bitRate)
        let answer = try await peer.attempt(.write([UInt8]()))
        #expect(answer.error?.hasPrefix("UnboundLocalError") == true)
        try await peer.finish()
    }
}
