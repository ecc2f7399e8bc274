// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Decoders that overlook a fault, and the places of those that they don't.
@Suite("A decoder with options")
struct StreamTests {
    private static let uri = Hex.bytes("d101015504")

    @Test("Bytes behind the end are refused with their place, or ignored where that is allowed")
    func trailingBytes() throws {
        var strict = NDEFStreamDecoder()
        #expect(try strict.append(Self.uri).count == 1)
        #expect(strict.isAtEnd)
        #expect(try strict.append([UInt8]()).isEmpty)
        let error = #expect(throws: NDEFError.self) { try strict.append([0x00, 0x00]) }
        #expect(error?.code == .trailingData && error?.offset == 5 && error?.record == 1)
        var lenient = NDEFStreamDecoder(options: NDEFDecodingOptions(allowsTrailingData: true))
        #expect(try lenient.append(Self.uri + [0x00]).count == 1)
        #expect(try lenient.append([0x00, 0xD1]).isEmpty)
        try lenient.finish()
    }

    @Test("A message without an end goes on with the next piece, and ends where the input does")
    func missingEnd() throws {
        var decoder = NDEFStreamDecoder(options: NDEFDecodingOptions(allowsMissingMessageEnd: true))
        #expect(try decoder.append(Hex.bytes("9101015504")).count == 1)
        #expect(!decoder.isAtEnd)
        #expect(try decoder.append(Hex.bytes("1101015505")).count == 1)
        try decoder.finish()
        #expect(throws: NDEFError(.missingMessageEnd)) {
            var strict = NDEFStreamDecoder()
            _ = try strict.append(Hex.bytes("91010155041101015505"))
            try strict.finish()
        }
    }

    @Test("A view has the records that it counts, whatever it overlooks")
    func views() throws {
        for (hex, options, count): (String, NDEFDecodingOptions, Int) in [
            ("d1010155040000", NDEFDecodingOptions(allowsTrailingData: true), 1),
            ("5101015504", NDEFDecodingOptions(allowsMissingMessageBegin: true), 1),
            ("91010155041101015505", NDEFDecodingOptions(allowsMissingMessageEnd: true), 2),
            ("9501015478510101550400", NDEFDecodingOptions(allowsTrailingData: true, allowsTypeOnUnknown: true), 2),
            ("", NDEFDecodingOptions(allowsEmptyInput: true), 0),
        ] {
            let bytes = Hex.bytes(hex)
            let view = try NDEFMessageView(bytes, options: options)
            #expect(view.count == count && view.map { $0.endOffset }.count == count, "\(hex)")
            let message = try NDEFMessage(decoding: bytes, options: options)
            #expect(view.map { NDEFRecord($0, of: bytes) } == message.records, "\(hex)")
        }
    }

    @Test(
        "A fault has the number of its record, and says it",
        arguments: [
            ("1101045504782e79", 0), ("9101045504782e799101045504782e79", 1), ("9101015504510101550400", 2),
            ("9101015504510101", 1), ("910101550431010155045601016300", 1), ("91010155041101015504560000", 2),
        ] as [(String, Int)]
    )
    func record(hex: String, record: Int) {
        let error = #expect(throws: NDEFError.self) { try NDEFMessage(decoding: Hex.bytes(hex)) }
        #expect(error?.record == record)
        let named: [NDEFError.Code] = [.unexpectedMessageBegin, .truncatedBody, .unexpectedUnchanged, .typeNotAllowed]
        if let error, named.contains(error.code) {
            #expect(error.reason.lowercased().contains("record \(record)"), "\(error.reason)")
        }
    }

    @Test("Each record has a chunk size of its own, and 0 is one piece")
    func chunkSizes() throws {
        let message = NDEFMessage([
            NDEFRecord(.unknown, payload: [1, 2, 3]), NDEFRecord(.media, type: [0x61], payload: [4, 5, 6]),
            NDEFRecord(.unknown, payload: [7, 8]),
        ])
        let expected = Hex.bytes("950003010203" + "320102610405" + "16000106" + "35000107" + "56000108")
        #expect(try message.encoded(chunkSizes: [0, 2, 1]) == expected)
        let error = #expect(throws: NDEFError.self) { try message.encoded(chunkSizes: [2, 0, -1]) }
        #expect(error?.code == .invalidChunkSize && error?.record == 2)
        #expect(throws: NDEFError(.noRecords)) { try NDEFMessage([]).encoded(chunkSizes: []) }
    }
}
