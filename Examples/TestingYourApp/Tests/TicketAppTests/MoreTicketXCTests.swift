// SPDX-License-Identifier: Apache-2.0
#if canImport(NFCTestKit)
    import FixedTicketApp
    import NFCTestKit
    import XCTest

    /// Explorations, user actions and the main queue in XCTest.
    final class MoreTicketXCTests: XCTestCase {
        func testTicketIsNeverSpoiled() async throws {
            try await explore(.everyLoss, near: .product("NTAG213", holding: .text("Day pass"))) { _ in
                try await TicketStamper().stamp("14:05")
            }
        }

        func testPersonWhoCancelsEndsTheStampingEarly() async throws {
            try await withField { field in
                let stamped = Task { try await TicketStamper().stamp("14:05") }
                try await field.cancelSheet()
                let result = await stamped.result
                XCTAssertThrowsError(try result.get())
                let airtime = field.airtime
                XCTAssertLessThan(airtime, .milliseconds(100))
            }
        }

        func testMainQueueRunsInsideAField() async throws {
            try await withField { _ in
                let seen = await withCheckedContinuation { continuation in
                    DispatchQueue.main.async { continuation.resume(returning: Thread.isMainThread) }
                }
                XCTAssertTrue(seen)
            }
        }
    }
#endif
