// SPDX-License-Identifier: Apache-2.0
#if canImport(NFCTestKit)
    import FixedTicketApp
    import Foundation
    import NFCTestKit
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct `One fault, and what it leaves` {
        let ticket = TagSpec.product("NTAG213", holding: .text("Day pass"))

        @Test func `A ticket that is lost in the tenth exchange is reported`() async throws {
            try await withField(ticket) { field in
                // Exchanges are counted from 0, starting with the next one.
                try field.inject(.loss(atExchange: 9))
                await #expect(throws: (any Error).self) { try await TicketStamper().stamp("14:05") }
                #expect(field.sheetHistory.contains { $0.content.state == .failure })
            }
        }

        @Test func `Two faults in one plan: stamping throws, and the ticket keeps its message`() async throws {
            try await withField(ticket) { field in
                let plan = FaultPlan([Fault(.mute, at: .exchange(6)), Fault(.powerCut(.old), at: .write(1))])
                try field.inject(plan)
                await #expect(throws: (any Error).self) { try await TicketStamper().stamp("14:05") }
                #expect(try await field.tags[0].message() == .text("Day pass"))
            }
        }

        @Test func `Stamping never writes the UID, the lock bytes and the capability container`() async throws {
            try await withField(ticket) { field in
                _ = try await TicketStamper().stamp("14:05")
                let before = try #require(field.tags[0].before?.type2)
                let after = try #require(try field.tags[0].contents().type2)
                // Four pages of four bytes: the UID, the lock bytes and the capability container.
                #expect(after.memory[..<16] == before.memory[..<16])
                #expect(after.memory != before.memory)
            }
        }

        @Test func `The trace has the commands that were sent and the sheet's text`() async throws {
            try await withField(ticket) { field in
                _ = try await TicketStamper().stamp("14:05")
                let trace = field.trace
                // 0xA2 is the WRITE command of a Type 2 tag.
                let writes = trace.exchanges.filter { $0.request.bytes.first == 0xA2 }
                #expect(!writes.isEmpty && writes.count < 15)
                #expect(trace.description.contains("sheet: success \"The ticket is stamped.\""))
            }
        }

        @Test func `A sleep of the app advances the field's clock`() async throws {
            try await withField { field in
                try await Task.sleep(for: .seconds(300))
                #expect(field.now == .seconds(300))
            }
        }

        @Test func `Code on the main queue is on the main actor, but not on the main thread`() async throws {
            try await withField { _ in
                let seen = await withCheckedContinuation { continuation in
                    DispatchQueue.main.async {
                        dispatchPrecondition(condition: .onQueue(.main))
                        let number = MainActor.assumeIsolated { 1 }
                        continuation.resume(returning: (Thread.isMainThread, number))
                    }
                }
                // The code runs on the main queue, but on a different thread.
                #expect(seen == (false, 1))
            }
        }
    }
#endif
