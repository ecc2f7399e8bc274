// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TestThreads
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A test with an app's configuration` {
    static let usage: [String: AppProperties.Value] = ["NFCReaderUsageDescription": "Cards are read."]
    static let entitlements: [String: AppProperties.Value] = [
        "com.apple.developer.nfc.readersession.formats": ["TAG"]
    ]
    static let ndef = "D2760000850101"
    static let ticket = "A0000002471001"

    static func app(selecting applications: String...) -> AppProperties {
        let list = AppProperties.Value(applications)
        return AppProperties(
            infoPlist: usage.merging(["com.apple.developer.nfc.readersession.iso7816.select-identifiers": list]) { $1 },
            entitlements: entitlements
        )
    }

    /// A card with two applications.
    static let card = TagSpec.script(
        [ndef, ticket].flatMap { name -> [(command: [UInt8], answer: [UInt8])] in
            let select = [0, 0xA4, 4, 0, 7] + bytes(name)
            return [(select, [0x90, 0]), (select + [0], [0x90, 0])]
        }
    )

    static func bytes(_ name: String) -> [UInt8] {
        stride(from: 0, to: name.utf8.count, by: 2).compactMap { UInt8(name.dropFirst($0).prefix(2), radix: 16) }
    }

    @Test func `The AID isn't listed: the command fails with code 2, and the card hears nothing of it`() async throws {
        for (app, code) in [
            (Self.app(selecting: Self.ndef, Self.ticket), nil),
            (Self.app(selecting: Self.ndef), .readerErrorSecurityViolation),
        ] as [(AppProperties, NFCReaderError.Code?)] {
            try await withField(Self.card, app: app) { field in
                let client = CardClient()
                let result: Result<UInt16, any Error> = try await field.completion("select") { done in
                    client.select(Self.bytes(Self.ticket), done)
                }
                switch result {
                case .success(let status): #expect(code == nil && status == 0x9000)
                case .failure(let error): #expect(code != nil && (error as? NFCReaderError)?.code == code)
                }
                let name = Self.bytes(Self.ticket)
                let heard = field.exchanges.contains { $0.request.bytes.contains(name) }
                #expect(heard == (code == nil))
                #expect(field.sheetHistory.last?.content.state != .failure)
            }
        }
    }

    @Test func `No application that is listed is on the card: it is no tag of ISO 7816`() async throws {
        try await withField(Self.card, app: Self.app(selecting: "A0000000000000")) { field in
            let client = CardClient()
            let result: Result<UInt16, any Error> = try await field.completion("select") { done in
                client.select(Self.bytes(Self.ticket), done)
            }
            #expect(throws: CardClient.OtherKind.self) { try result.get() }
        }
    }

    @Test func `The format isn't among the entitlements: the session ends with code 2, and no sheet was there`()
        async throws
    {
        for formats in [["VAS"], []] as [AppProperties.Value] {
            let app = AppProperties(
                infoPlist: Self.usage,
                entitlements: ["com.apple.developer.nfc.readersession.formats": formats]
            )
            try await withField(Self.card, app: app) { field in
                let client = CardClient()
                let result: Result<UInt16, any Error> = try await field.completion("select") { done in
                    client.select(Self.bytes(Self.ndef), done)
                }
                let error = #expect(throws: NFCReaderError.self) { try result.get() }
                #expect(error?.code == .readerErrorSecurityViolation)
                #expect(field.exchanges.isEmpty && field.sheetHistory.isEmpty)
            }
        }
    }

    @Test(.ownThreads) func `The usage description is missing: the process ends, as an app's does`() async throws {
        let exit = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let app = AppProperties(infoPlist: [:], entitlements: Self.entitlements)
            try await withField(Self.card, app: app) { field in
                let client = CardClient()
                let _: Result<UInt16, any Error> = try await field.completion("select") { done in
                    client.select(Self.bytes(Self.ndef), done)
                }
            }
        }
        let said = String(decoding: try #require(exit).standardErrorContent, as: UTF8.self)
        #expect(said.contains("NFCReaderUsageDescription"))
    }
}

/// A client that selects an application of a card.
private final class CardClient: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    /// The tag is not an ISO 7816 tag.
    struct OtherKind: Error {}

    // Sendable because all of it is used only on the main queue after the start.
    private var session: NFCTagReaderSession?
    private var name: [UInt8] = []
    private var completion: (@Sendable (Result<UInt16, any Error>) -> Void)?

    func select(_ name: [UInt8], _ completion: @escaping @Sendable (Result<UInt16, any Error>) -> Void) {
        self.name = name
        self.completion = completion
        session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self, queue: .main)
        session?.begin()
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard let first = tags.first, case .iso7816(let card) = first else {
            session.invalidate()
            return finish(.failure(OtherKind()))
        }
        session.connect(to: first) { [self] error in
            let apdu = NFCISO7816APDU(data: Data([0, 0xA4, 4, 0, UInt8(name.count)] + name + [0]))
            guard let apdu, error == nil else { return finish(.failure(error ?? CocoaError(.featureUnsupported))) }
            card.sendCommand(apdu: apdu) { [self] _, high, low, error in
                session.invalidate()
                finish(error.map { .failure($0) } ?? .success(UInt16(high) << 8 | UInt16(low)))
            }
        }
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
    }

    private func finish(_ result: Result<UInt16, any Error>) {
        completion?(result)
        completion = nil
    }
}
