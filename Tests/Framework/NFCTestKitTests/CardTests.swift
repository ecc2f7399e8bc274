// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCRuntime
import NFCTestKit
import Testing
import VirtualTags

/// What a test has for code that makes the process a card.
@Suite(.timeLimit(.minutes(5))) struct `An app that is a card, in a test` {
    private static let select: [UInt8] = [0, 0xA4, 4, 0, 2, 0xF0, 1]

    /// Becomes a card, and returns what a reader gets for a SELECT: its own bytes and 9000.
    private static func answer(to reader: VirtualCardReader) async throws -> [UInt8] {
        let session = try await CardSession()
        try await session.startEmulation()
        reader.approach()
        async let answer = reader.transmit(Self.select)
        for try await event in session.eventStream {
            guard case .received(let apdu) = event else { continue }
            try await apdu.respond(response: apdu.payload + Data([0x90, 0]))
            break
        }
        let bytes = try await answer
        session.invalidate()
        return bytes
    }

    @Test func `A field has the reader that it is a card for`() async throws {
        try await withField { field in
            #expect(CardSession.isSupported)
            let answer = try await Self.answer(to: field.cardReader)
            #expect(answer == Self.select + [0x90, 0])
        }
    }

    @Test func `A field with a clock of the test's own has one too`() async throws {
        try await withVirtualField { scope in
            #expect(CardSession.isSupported)
            let answer = try await Self.answer(to: scope.cardReader)
            #expect(answer == Self.select + [0x90, 0])
        }
    }

    @Test func `On a reader there is none`() async throws {
        try await withField(reader: .reader(.field(VirtualField()))) { _ in
            #expect(!CardSession.isSupported)
            await #expect(throws: CardSession.Error.systemNotAvailable) { _ = try await CardSession() }
        }
        await withoutReader { #expect(!CardSession.isSupported) }
    }
}
