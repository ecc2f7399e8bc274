// SPDX-License-Identifier: Apache-2.0
#if canImport(NFCTestKit)
    import CoreNFC
    import NFCTestKit
    import Testing

    @testable import CardReader

    @Test func `A card with a link is read`() async throws {
        try await withField(.product("NTAG215", holding: .uri("https://example.com"))) { field in
            let lines = try await MessageReader().scan()
            #expect(lines == ["Link: https://example.com"])
            #expect(field.sheetTexts == ["Hold the card near the reader to see its message.", "The card was read."])
        }
    }

    @MainActor func write(_ link: String) async throws {
        let record = try #require(NFCNDEFPayload.wellKnownTypeURIPayload(string: link))
        try await MessageWriter(NFCNDEFMessage(records: [record])).write()
    }

    @Test func `A message that does not fit is refused before anything is written`() async throws {
        let link = "https://example.com/" + String(repeating: "x", count: 200)
        try await withField(.product("NTAG213", holding: .text("Old"))) { field in
            await #expect(throws: CardProblem.self) { try await write(link) }
            #expect(field.sheetHistory.last?.content.state == .failure)
            let left = try await field.tags[0].message()
            #expect(left == .text("Old"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func `A card that is lost at any moment`() async throws {
        let report = try await explore(.everyLoss, near: .product("NTAG213", holding: .text("Old"))) { _ in
            try await write("https://example.com")
        }
        #expect(report.attempts.allSatisfy { $0.happened > 0 })
    }
#endif
