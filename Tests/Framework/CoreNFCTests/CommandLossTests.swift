// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Commands to a tag that is lost at any exchange` {
    /// A command with a completion handler.
    typealias Step = (_ done: @escaping @Sendable ((any Error)?) -> Void) -> Void

    /// A kind of tag, and what is sent to it.
    struct Kind: CustomTestStringConvertible, Sendable {
        var product: String
        var polling: NFCTagReaderSession.PollingOption
        var steps: @Sendable (NFCTag) -> [Step]

        var testDescription: String { product }
    }

    /// A card is one of ISO 7816 when the app lists an application of it.
    static let app = AppProperties(
        infoPlist: [
            "NFCReaderUsageDescription": "Tags are read.",
            "com.apple.developer.nfc.readersession.felica.systemcodes": ["88B4"],
            "com.apple.developer.nfc.readersession.iso7816.select-identifiers": ["D2760000850101"],
        ]
    )

    static let kinds = [
        Kind(product: "NTAG215", polling: .iso14443) { tag in
            guard case .miFare(let tag) = tag else { return [] }
            return [[0x60], [0x30, 4], [0xA2, 0x60, 1, 2, 3, 4], [0x30, 0x60]].map { packet in
                { done in tag.sendMiFareCommand(commandPacket: Data(packet)) { done($1) } }
            }
        },
        Kind(product: "ICODE SLIX2", polling: .iso15693) { tag in
            guard case .iso15693(let tag) = tag else { return [] }
            let flags: NFCISO15693RequestFlag = [.address, .highDataRate]
            return [
                { done in
                    tag.getSystemInfo(requestFlags: flags) { (result: Result<NFCISO15693SystemInfo, any Error>) in
                        if case .failure(let error) = result { done(error) } else { done(nil) }
                    }
                },
                { done in tag.readSingleBlock(requestFlags: flags, blockNumber: 0) { done($1) } },
                { done in
                    let block = Data([1, 2, 3, 4])
                    tag.writeSingleBlock(requestFlags: flags, blockNumber: 60, dataBlock: block) { done($0) }
                },
                { done in
                    tag.readMultipleBlocks(requestFlags: flags, blockRange: NSRange(location: 56, length: 8)) {
                        done($1)
                    }
                },
            ]
        },
        Kind(product: "FeliCa Lite-S", polling: .iso18092) { tag in
            guard case .feliCa(let tag) = tag else { return [] }
            let block = Data([0x80, 0x0C])
            return [
                { done in
                    tag.readWithoutEncryption(serviceCodeList: [Data([0x0B, 0])], blockList: [block]) { done($3) }
                },
                { done in
                    tag.writeWithoutEncryption(
                        serviceCodeList: [Data([0x09, 0])],
                        blockList: [block],
                        blockData: [Data(1...16)]
                    ) { done($2) }
                },
                { done in
                    tag.readWithoutEncryption(serviceCodeList: [Data([0x0B, 0])], blockList: [block]) { done($3) }
                },
            ]
        },
        Kind(product: "generic Type 4", polling: .iso14443) { tag in
            guard case .iso7816(let tag) = tag else { return [] }
            return [
                [0, 0xA4, 4, 0, 7, 0xD2, 0x76, 0, 0, 0x85, 1, 1, 0], [0, 0xA4, 0, 0x0C, 2, 0xE1, 3],
                [0, 0xB0, 0, 0, 15],
            ].compactMap { NFCISO7816APDU(data: Data($0)) }.map { apdu in
                { done in tag.sendCommand(apdu: apdu) { done($3) } }
            }
        },
    ]

    /// A failed command reports that the tag was lost, or that the answer was invalid.
    static let failsAsTold = Invariant("an error is that of a lost tag, or of an answer that is none") { run in
        guard let error = run.error, !(error is FoundTags.SessionEnded) else { return nil }
        let codes: [NFCReaderError.Code] = [
            .readerTransceiveErrorTagConnectionLost, .readerTransceiveErrorTagResponseError,
        ]
        guard let code = (error as? NFCReaderError)?.code, codes.contains(code) else { return "it was \(error)" }
        // A tag that was lost when it was known is gone.
        return run.replay.map { "\($0)".hasPrefix("loss") } == true && code != codes[0] ? "the code was \(code)" : nil
    }

    @Test(arguments: kinds)
    func `Whatever the kind of tag, each command is answered once, and no session stays open`(_ kind: Kind) async throws
    {
        let report = try await explore(
            .everyLoss,
            near: .product(kind.product, holding: .uri("https://example.com/a")),
            app: Self.app,
            invariants: [.neverBricked, .sessionEnds, .completesOnce, .errorShown, Self.failsAsTold]
        ) { field in
            let found = try await `A session for tags`.detect(kind.polling)
            defer { withExtendedLifetime(found.delegate) {} }
            do {
                let tag = try #require(found.tags.first)
                try await found.session.connect(to: tag)
                for (index, step) in kind.steps(tag).enumerated() {
                    let error: (any Error)? = try await field.completion("command \(index + 1)") { step($0) }
                    if let error { throw error }
                }
                found.session.invalidate()
            } catch {
                found.session.invalidate(errorMessage: "Try again.")
                throw error
            }
        }
        let commands = report.first.completions.count
        #expect(commands >= 3 && report.exchanges > commands)
        #expect(kind.product == "generic Type 4" ? report.writes == 0 : report.writes == 1)
    }
}
