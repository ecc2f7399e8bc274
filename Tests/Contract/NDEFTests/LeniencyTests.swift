// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Where a leniency ends.
@Suite("A leniency")
struct LeniencyTests {
    @Test("can be taken back, and the others stay")
    func takenBack() {
        let all: [WritableKeyPath<NDEFDecodingOptions, Bool>] = [
            \.allowsTrailingData, \.allowsEmptyInput, \.allowsMissingMessageBegin, \.allowsMissingMessageEnd,
            \.allowsTypeOnUnknown,
        ]
        for index in all.indices {
            var options = NDEFDecodingOptions.strict
            for leniency in all { options[keyPath: leniency] = true }
            options[keyPath: all[index]] = false
            let found = all.map { options[keyPath: $0] }
            #expect(found == all.indices.map { $0 != index })
            options[keyPath: all[index]] = true
            for leniency in all { options[keyPath: leniency] = false }
            #expect(options == .strict)
        }
    }

    @Test("of a missing end does not lose a record whose chunks are not all there")
    func missingChunks() throws {
        let options = NDEFDecodingOptions(allowsMissingMessageEnd: true)
        for (hex, record) in [("b20301612f6278", 0), ("910101550432020161620136000163", 1)] {
            let bytes = Hex.bytes(hex)
            let error = #expect(throws: NDEFError.self) { try NDEFMessage(decoding: bytes, options: options) }
            #expect(error?.code == .missingMessageEnd && error?.record == record, "\(hex)")
            #expect(throws: NDEFError(.missingMessageEnd)) { try NDEFMessageView(bytes, options: options) }
            var decoder = NDEFStreamDecoder(options: options)
            #expect(try decoder.append(bytes).count == record)
            #expect(throws: NDEFError(.missingMessageEnd)) { try decoder.finish() }
        }
    }

    @Test(
        "of a type on unknown records is not for later chunks",
        arguments: ["b50001015601015502", "b20301612f62785601016379"]
    )
    func laterChunks(hex: String) {
        let options = NDEFDecodingOptions(allowsTypeOnUnknown: true)
        #expect(throws: NDEFError(.typeNotAllowed)) { try NDEFMessage(decoding: Hex.bytes(hex), options: options) }
    }

    @Test("of an empty input is one of a stream too")
    func emptyStream() throws {
        var decoder = NDEFStreamDecoder(options: NDEFDecodingOptions(allowsEmptyInput: true))
        #expect(try decoder.append([UInt8]()).isEmpty)
        try decoder.finish()
    }

    @Test("or not, a view ends behind its message")
    func ends() throws {
        for (hex, end) in [("d101015504", 5), ("91010155045101015505", 10), ("b20301612f627856000179", 11)] {
            #expect(try NDEFMessageView(Hex.bytes(hex)).endOffset == end, "\(hex)")
        }
    }
}
