// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import Testing
import VirtualTags

@testable import NFCTestKit

/// Checks what is known of the work that a thread runs for a test.
@Suite struct `The scope of a thread` {
    @Test func `may be there in the next test too, where it or one around it may`() {
        let environment = NFCEnvironment(reader: .field(VirtualField()), clock: ManualClock(), place: nil)
        let (passing, lasting) = (CarriedScope(environment), CarriedScope(environment, lasts: true))
        #expect(!passing.isLasting && lasting.isLasting)
        #expect(!CarriedScope(environment, in: passing).isLasting)
        #expect(CarriedScope(environment, in: passing, lasts: true).isLasting)
        let inner = CarriedScope(environment, in: lasting)
        #expect(inner.isLasting && CarriedScope(environment, in: inner).isLasting)
    }

    /// The scope of a thread that a test has begun.
    private final class OfThread: CarriedScope {
        override var isOfThread: Bool { true }
    }

    @Test func `is one of a thread that the test has begun, where it or one around it is`() {
        let environment = NFCEnvironment(reader: .field(VirtualField()), clock: ManualClock(), place: nil)
        let scope = CarriedScope(environment)
        #expect(!scope.isOfThread && !CarriedScope(environment, in: scope).isOfThread)
        let inner = CarriedScope(environment, in: OfThread(environment))
        #expect(inner.isOfThread && CarriedScope(environment, in: inner).isOfThread && inner.work == nil)
    }
}
