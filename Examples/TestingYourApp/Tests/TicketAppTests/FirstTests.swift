// SPDX-License-Identifier: Apache-2.0
#if canImport(NFCTestKit)
    import FixedTicketApp
    import NFCTestKit
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct `The first tests` {
        let ticket = TagSpec.product("NTAG213", holding: .text("Day pass"))

        @Test func `A ticket is stamped`() async throws {
            try await withField(.product("NTAG213", holding: .text("Day pass"))) { field in
                let text = try await TicketStamper().stamp("14:05")
                #expect(text == "Day pass 14:05")
                #expect(try await field.tags[0].message() == .text("Day pass 14:05", inUTF16: true))
            }
        }

        @Test func `A ticket is stamped with both texts on the sheet and less than 150 ms of airtime`() async throws {
            try await withField(.product("NTAG213", holding: .text("Day pass"))) { field in
                let text = try await TicketStamper().stamp("14:05")
                #expect(text == "Day pass 14:05")
                #expect(try await field.tags[0].message() == .text("Day pass 14:05", inUTF16: true))
                #expect(field.sheetTexts == ["Hold the ticket near the phone.", "The ticket is stamped."])
                #expect(field.airtime < .milliseconds(150))
            }
        }

        @Test func `A ticket that is lost at any exchange`() async throws {
            try await explore(.everyLoss, near: .product("NTAG213", holding: .text("Day pass"))) { _ in
                try await TicketStamper().stamp("14:05")
            }
        }

        @Test func `A ticket that is lost or slips, and a person who cancels`() async throws {
            try await explore([.everyLoss, .slips, .cancels], near: ticket) { _ in
                try await TicketStamper().stamp("14:05")
            }
        }

        @Test func `Everything that an exploration tries happens`() async throws {
            let report = try await explore(.everything, near: ticket) { _ in try await TicketStamper().stamp("14:05") }
            // … Tried: 14 losses, 3 tears, …. Not checked: no message is lost: no NDEF was written.
            #expect(report.attempts.allSatisfy { $0.happened > 0 })
        }

        @Test func `Two scans by one object`() async throws {
            try await withField(ticket) { field in
                let stamper = TicketStamper()
                let text = try await field.twice { try await stamper.stamp("14:05") }
                #expect(text == "Day pass 14:05 14:05")
            }
        }

        @Test func `A stamp that does not fit: an error is shown, and the session ends in time`() async throws {
            try await withField(.product("NTAG213", holding: .text(String(repeating: "x", count: 128)))) { field in
                await #expect(throws: (any Error).self) { try await TicketStamper().stamp("14:05") }
                await field.settle()
                #expect(field.now < .seconds(30), "The sheet is gone before its minute is over.")
                #expect(field.sheetHistory.contains { $0.content.state == .failure }, "The user sees an error.")
            }
        }
    }
#endif
