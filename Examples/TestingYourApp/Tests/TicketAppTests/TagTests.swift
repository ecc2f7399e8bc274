// SPDX-License-Identifier: Apache-2.0
#if canImport(NFCTestKit)
    import FixedTicketApp
    import NFCTestKit
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct `Tags of many kinds` {
        let ticket = TagSpec.product("NTAG213", holding: .text("Day pass"))

        @Test func `A locked ticket is refused, and a ticket with a password`() async throws {
            for tag in [ticket.readOnly, ticket.protected(by: [0x12, 0x34, 0x56, 0x78])] {
                try await withField(tag) { field async throws in
                    await #expect(throws: (any Error).self) { try await TicketStamper().stamp("14:05") }
                    #expect(try await field.tags[0].message() == .text("Day pass"))
                }
            }
        }

        @Test func `A ticket with several records`() async throws {
            let tag = TagSpec.product("NTAG215", holding: [.text("Day pass"), .uri("https://example.com/tickets")])
            try await withField(tag) { _ in
                let text = try await TicketStamper().stamp("14:05")
                #expect(text == "Day pass 14:05")
            }
        }

        @Test func `Memory without NDEF`() async throws {
            let sensor = TagSpec.product("ICODE SLIX").writing([0x17, 0x2A], atBlock: 8)
            let pass = TagSpec.feliCa(system: 0x0003, services: [0x008B: [0x00, 0x64], 0x090F: []])
            try await withField(sensor, pass) { field in #expect(field.tags.count == 2) }
        }

        /// An application of a card: a purse, from which a command takes an amount.
        struct Purse: CardApplication {
            var balance: UInt8 = 100
            var names: [[UInt8]] { [[0xF0, 0x01, 0x02, 0x03, 0x04]] }
            var persistentMemory: [UInt8] { [balance] }

            mutating func select(_ command: CardCommand) -> CardAnswer { CardAnswer(status: .success) }

            mutating func process(_ command: CardCommand, tear: TornWrite?) -> CardAnswer {
                guard command.ins == 0x34, command.p1 <= balance else { return CardAnswer(status: .wrongParameters) }
                balance -= command.p1
                return CardAnswer([balance], status: .success, isWrite: true)
            }

            mutating func deselect() {}
        }

        @Test func `A card with an application of the test's own`() async throws {
            let card = TagSpec.tag(VirtualType4Tag(card: ApplicationCard([Purse()])))
            try await withField(card) { field in
                let purse = try #require(field.tags[0].virtual as? VirtualType4Tag)
                #expect(purse.card.persistentMemory == [100])
            }
        }

        @Test func `A tag that was read in the background`() throws {
            let message: TagMessage = [.uri("https://example.com/tickets/7"), .text("Day pass")]
            let activity = try #require(message.makeUserActivity())
            #expect(activity.webpageURL?.lastPathComponent == "7")
            #expect(activity.ndefMessagePayload.records.count == 2)
        }
    }
#endif
