// SPDX-License-Identifier: Apache-2.0
#if canImport(NFCTestKit)
    import FixedTicketApp
    import NFCTestKit
    import Testing
    import TicketApp

    /// Tests for both apps: the fixed app passes, and the buggy app's bugs are found.
    @Suite(.timeLimit(.minutes(5))) struct `Stamping a ticket` {
        static let ticket = TagSpec.product("NTAG213", holding: .text("Day pass"))
        /// A ticket with so much text that a stamp does not fit.
        static let fullTicket = TagSpec.product("NTAG213", holding: .text(String(repeating: "x", count: 128)))

        @Test func `A ticket is stamped`() async throws {
            try await withField(Self.ticket) { field in
                let text = try await TicketApp.TicketStamper().stamp("14:05")
                #expect(text == "Day pass 14:05")
                #expect(field.sheetTexts == ["Hold the ticket near the phone.", "The ticket is stamped."])
                // With a real reader, the test can't check the tag's content or the airtime.
                guard field.virtual != nil else { return }
                #expect(try await field.tags[0].message() == .text("Day pass 14:05", inUTF16: true))
                #expect(field.airtime < .milliseconds(150))
            }
        }

        // MARK: A tag that is lost

        @Test func `A ticket that is lost at any moment is reported, and never damaged`() async throws {
            let report = try await explore(.everyLoss, near: Self.ticket) { _ in
                try await FixedTicketApp.TicketStamper().stamp("14:05")
            }
            #expect(report.runs > 50)
        }

        @Test func `The fixed app passes an exploration with everything`() async throws {
            let report = try await explore(.everything, near: Self.ticket) { _ in
                try await FixedTicketApp.TicketStamper().stamp("14:05")
            }
            #expect(report.attempts.map(\.name).contains("slips"))
            // The flow awaits its result, and passes no completion handler to the field.
            #expect(report.unchecked.map(\.invariant) == [Invariant.completesOnce.name])
        }

        @Test func `The continuation that is lost with the tag is found`() async throws {
            let failure = try #require(
                await #expect(throws: ExplorationFailure.self) {
                    try await explore(.everyLoss, near: Self.ticket) { _ in
                        try await TicketApp.TicketStamper().stamp("14:05")
                    }
                }
            )
            #expect(failure.invariant == "the flow ends")
            // The failure includes a replay code that repeats this run alone.
            let replay = try #require(failure.replay)
            await #expect(throws: ExplorationFailure.self) {
                try await explore(.replay(replay), near: Self.ticket) { _ in
                    try await TicketApp.TicketStamper().stamp("14:05")
                }
            }
        }

        // MARK: A tag that does not fit

        /// Checks that a flow throws, shows an error in time, and leaves the tag unchanged.
        static func fails(on tag: TagSpec, _ stamp: @escaping @Sendable () async throws -> String) async throws {
            try await withField(tag) { field in
                let before = try await field.tags[0].message()
                await #expect(throws: (any Error).self) { _ = try await stamp() }
                await field.settle()
                #expect(try await field.tags[0].message() == before)
                #expect(field.now < .seconds(30), "The sheet is gone before its minute is over.")
                #expect(field.sheetHistory.contains { $0.content.state == .failure }, "The user sees an error.")
            }
        }

        @Test func `A ticket that is full is reported`() async throws {
            try await Self.fails(on: Self.fullTicket) { try await FixedTicketApp.TicketStamper().stamp("14:05") }
        }

        @Test func `The write without a look at the capacity is found`() async throws {
            await withKnownIssue {
                try await Self.fails(on: Self.fullTicket) { try await TicketApp.TicketStamper().stamp("14:05") }
            }
        }

        @Test func `A ticket that is locked is reported`() async throws {
            try await Self.fails(on: try Self.locked()) { try await FixedTicketApp.TicketStamper().stamp("14:05") }
        }

        @Test func `The session that nobody invalidates is found`() async throws {
            let failure = try #require(
                await #expect(throws: ExplorationFailure.self) {
                    try await explore(.losses, near: try Self.locked()) { _ in
                        // The app is right to refuse, so the error is not a failure of the flow.
                        _ = try? await TicketApp.TicketStamper().stamp("14:05")
                    }
                }
            )
            #expect(failure.invariant == Invariant.sessionEnds.name)
        }

        /// A ticket whose capability container marks it as read-only.
        static func locked() throws -> TagSpec {
            var contents = Type2Contents(blank: .ntag213, uid: [0x04, 1, 2, 3, 4, 5, 6])
            contents.memory[15] = 0x0F
            return .contents(.type2(contents))
        }
    }
#endif
