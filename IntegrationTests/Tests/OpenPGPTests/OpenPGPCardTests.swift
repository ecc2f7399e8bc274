// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import Testing

/// Checks sessions on a foreign card behind the real pcscd.
@Suite(.serialized, .enabled(if: OpenPGPPeer.whyNot == nil, "\(OpenPGPPeer.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct OpenPGPCardTests {
    private static let application = Data([0xD2, 0x76, 0x00, 0x01, 0x24, 0x01])

    /// DigestInfo of SHA-256 up to the digest (RFC 8017, 9.2).
    private static let digestHeader: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
        0x20,
    ]

    private static func send(
        _ bytes: [UInt8],
        to tag: any NFCISO7816Tag
    ) async throws -> (data: [UInt8], status: UInt16) {
        let command = try #require(NFCISO7816APDU(data: Data(bytes)))
        let (data, sw1, sw2) = try await tag.sendCommand(apdu: command)
        return (Array(data), UInt16(sw1) << 8 | UInt16(sw2))
    }

    private static func connect(_ reader: CardReader) async throws -> any NFCISO7816Tag {
        let found = try #require(await reader.tag())
        guard case .iso7816(let tag) = found else { throw NFCReaderError(.readerErrorUnsupportedFeature) }
        try await reader.session?.connect(to: found)
        return tag
    }

    @Test("OpenPGP card: found when it is inserted; SELECT, GET DATA, chaining and GET RESPONSE pass")
    func commands() async throws {
        let reader = CardReader()
        try await OpenPGPPeer.shared.begin()
        reader.begin()
        _ = try await OpenPGPPeer.shared.ask("insert")
        let tag = try await Self.connect(reader)
        #expect(tag.identifier == Data([0x08, 0xA1, 0xB2, 0xC3]))
        #expect(tag.historicalBytes == Data([0x00, 0x31, 0xF5, 0x73, 0xC0, 0x01, 0x60, 0x00, 0x90, 0x00]))

        let selected = try await Self.send([0x00, 0xA4, 0x04, 0x00, 0x06] + Self.application + [0x00], to: tag)
        #expect(selected.status == 0x9000)
        let unknown = try await Self.send([0x00, 0xA4, 0x04, 0x00, 0x05, 1, 2, 3, 4, 5, 0x00], to: tag)
        #expect(unknown.status == 0x6A82)
        _ = try await Self.send([0x00, 0xA4, 0x04, 0x00, 0x06] + Self.application + [0x00], to: tag)
        let identifier = try await Self.send([0x00, 0xCA, 0x00, 0x4F, 0x00], to: tag)
        #expect(identifier.status == 0x9000 && identifier.data.starts(with: Self.application))
        let related = try await Self.send([0x00, 0xCA, 0x00, 0x6E, 0x00], to: tag)
        #expect(related.status == 0x9000 && related.data.count > 100)

        // PUT DATA needs the administrator's password; 5F50 is a URL, sent in two chained commands.
        let verified = try await Self.send([0x00, 0x20, 0x00, 0x83, 0x08] + "12345678".utf8, to: tag)
        #expect(verified.status == 0x9000)
        let address = Array("https://example.com/keys/card.asc".utf8)
        let head = Array(address.prefix(20))
        let rest = Array(address.dropFirst(20))
        let first = try await Self.send([0x10, 0xDA, 0x5F, 0x50, UInt8(head.count)] + head, to: tag)
        #expect(first.status == 0x9000)
        let second = try await Self.send([0x00, 0xDA, 0x5F, 0x50, UInt8(rest.count)] + rest, to: tag)
        #expect(second.status == 0x9000)
        let read = try await Self.send([0x00, 0xCA, 0x5F, 0x50, 0x00], to: tag)
        #expect(read.data == address)

        // A signature of 256 bytes, read 128 bytes at a time.
        let key = try await Self.send([0x00, 0x47, 0x80, 0x00, 0x02, 0xB6, 0x00, 0x00], to: tag)
        #expect(key.status == 0x9000 && key.data.count > 256 && key.data.starts(with: [0x7F, 0x49]))
        let user = try await Self.send([0x00, 0x20, 0x00, 0x81, 0x06] + "123456".utf8, to: tag)
        #expect(user.status == 0x9000)
        let digest = Self.digestHeader + [UInt8](repeating: 0x5A, count: 32)
        let sign: [UInt8] = [0x00, 0x2A, 0x9E, 0x9A, UInt8(digest.count)] + digest + [0x80]
        var answer = try await Self.send(sign, to: tag)
        #expect(answer.status == 0x6180)
        var signature = answer.data
        for _ in 0..<8 where answer.status >> 8 == 0x61 {
            answer = try await Self.send([0x00, 0xC0, 0x00, 0x00, UInt8(answer.status & 0xFF)], to: tag)
            signature += answer.data
        }
        #expect(answer.status == 0x9000)
        #expect(signature.count == 256)

        _ = try await OpenPGPPeer.shared.ask("remove")
        await #expect(throws: NFCReaderError.self) { try await Self.send([0x00, 0xCA, 0x00, 0x4F, 0x00], to: tag) }
        reader.session?.invalidate()
        #expect(await reader.end() == .readerSessionInvalidationErrorUserCanceled)
    }

    @Test("pcscd killed and started again in a session: the card is found after restartPolling")
    func restart() async throws {
        let reader = CardReader()
        try await OpenPGPPeer.shared.begin()
        reader.begin()
        _ = try await OpenPGPPeer.shared.ask("insert")
        let tag = try await Self.connect(reader)
        _ = try await OpenPGPPeer.shared.ask("kill")
        await #expect(throws: NFCReaderError.self) { try await Self.send([0x00, 0xCA, 0x00, 0x4F, 0x00], to: tag) }
        reader.session?.restartPolling()
        _ = try await OpenPGPPeer.shared.ask("start")
        _ = try await OpenPGPPeer.shared.ask("insert")
        let again = try await Self.connect(reader)
        let selected = try await Self.send([0x00, 0xA4, 0x04, 0x00, 0x06] + Self.application + [0x00], to: again)
        #expect(selected.status == 0x9000)
        _ = try await OpenPGPPeer.shared.ask("remove")
        reader.session?.invalidate()
        #expect(await reader.end() == .readerSessionInvalidationErrorUserCanceled)
    }
}
