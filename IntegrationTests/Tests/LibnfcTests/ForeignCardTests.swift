// SPDX-License-Identifier: Apache-2.0
import EmulationSupport
import Foundation
import PeerSupport
import Testing

/// Checks our reader on libnfc's card: a Type 4 tag behind a PN532, with its own rules.
@Suite(
    .serialized,
    .enabled(if: Program.areInstalled("nfc-emulate-forum-tag4"), "libnfc-bin is not installed.")
)
struct `libnfc's card and our reader` {
    private static let hex = Samples.message.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    /// The type and payload of the record of the samples.
    private static let summary = "message 55:" + String(hex.dropFirst(8))

    /// Starts libnfc's card, which serves one reader, and ends.
    private func card(_ adapters: FacingAdapters) throws -> TalkingProgram {
        let file = adapters.folder.appending(path: "in.ndef")
        try Data(Samples.message).write(to: file)
        return try TalkingProgram(
            try #require(Program("nfc-emulate-forum-tag4")).path,
            [file.path],
            environment: adapters.cardEnvironment
        )
    }

    @Test func `NFCNDEFReaderSession: reads libnfc's emulated card`() async throws {
        let adapters = try await FacingAdapters()
        let card = try card(adapters)
        let probe = try Client.probe("ndef", adapters.readerEnvironment)
        #expect(try await probe.line(with: "message ") == Self.summary)
        probe.say("invalidate")
        try await probe.line(with: "ended 200")
        _ = try await card.end(within: .seconds(10))
        try await adapters.stop()
    }

    @Test func `NFCTagReaderSession: reads and writes libnfc's emulated card, and sends it APDUs`() async throws {
        let adapters = try await FacingAdapters()
        let card = try card(adapters)
        let probe = try Client.probe("tag", adapters.readerEnvironment)
        try await probe.line(with: "tag iso7816")
        probe.say("status")
        #expect(try await probe.line(with: "status ") == "status 2 65532")
        probe.say("read")
        #expect(try await probe.line(with: "message ") == Self.summary)
        // Two records, longer than one command of the card.
        let link = "04" + String(repeating: "61", count: 254)
        probe.say("write 91010554" + "02656e4142" + "5101ff55" + link)
        try await probe.line(with: "written")
        probe.say("read")
        #expect(
            try await probe.line(with: "message ")
                == "message 54:02656e4142,55:" + link
        )
        probe.say("apdu 00a4040007d276000085010100")
        #expect(try await probe.line(with: "answer ") == "answer 9000")
        probe.say("apdu 00a4040007d276000085010200")
        #expect(try await probe.line(with: "answer ") == "answer 6a82")
        probe.say("invalidate")
        try await probe.line(with: "ended 200")
        _ = try await card.end(within: .seconds(10))
        // The card's own log of the command.
        #expect(card.output.contains("00  d6  00  00"), "\(card.output)")
        try await adapters.stop()
    }
}
