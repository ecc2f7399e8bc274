// SPDX-License-Identifier: Apache-2.0
#if canImport(NFCTestKit)
    import FixedTicketApp
    import NFCTestKit
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct `The app's configuration` {
        let ticket = TagSpec.product("NTAG213", holding: .text("Day pass"))

        @Test func `With the app's property lists the ticket is stamped`() async throws {
            let app = try AppProperties(contentsOf: "App/Info.plist", entitlements: "App/Tickets.entitlements")
            try await withField(ticket, app: app) { field in
                let text = try await TicketStamper().stamp("14:05")
                #expect(text == "Day pass 14:05")
            }
        }

        @Test func `Without the formats entitlement the session is refused`() async throws {
            var app = try AppProperties(contentsOf: "App/Info.plist", entitlements: "App/Tickets.entitlements")
            app.entitlements?["com.apple.developer.nfc.readersession.formats"] = []
            try await withField(ticket, app: app) { field in
                await #expect(throws: (any Error).self) { try await TicketStamper().stamp("14:05") }
                #expect(field.exchanges.isEmpty)
            }
        }

        @Test func `Without the formats entitlement, given in code, the session is refused`() async throws {
            let app = AppProperties(
                infoPlist: ["NFCReaderUsageDescription": "To stamp your tickets."],
                entitlements: ["com.apple.developer.nfc.readersession.formats": []]
            )
            try await withField(ticket, app: app) { field in
                await #expect(throws: (any Error).self) { try await TicketStamper().stamp("14:05") }
                #expect(field.exchanges.isEmpty)
            }
        }
    }
#endif
