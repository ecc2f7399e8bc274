// SPDX-License-Identifier: Apache-2.0
#if canImport(NFCTestKit)
    import FixedTicketApp
    import NFCTestKit
    import XCTest

    /// The first test, written in Swift 5 mode.
    final class TicketSwift5Tests: XCTestCase {
        func testTicketIsStamped() async throws {
            try await withField(.product("NTAG213", holding: .text("Day pass"))) { field in
                let text = try await TicketStamper().stamp("14:05")
                XCTAssertEqual(text, "Day pass 14:05")
            }
        }
    }
#endif
