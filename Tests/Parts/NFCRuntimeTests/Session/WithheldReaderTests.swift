// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import Testing
import VirtualTags

/// Checks which sessions the phone around a reader lets begin.
@Suite(.timeLimit(.minutes(1))) struct `A phone that withholds its reader` {
    private final class Phone: SessionHost {
        let withheld: SessionNeeds

        init(_ withheld: SessionNeeds) { self.withheld = withheld }

        func note(_ event: SessionEvent, of session: Int) {}
    }

    @Test func `withholds each thing by itself`() {
        let needs: [SessionNeeds] = [.radio, .freeReader, .entitlement, .usageText]
        for need in needs { #expect(needs.filter { need.contains($0) } == [need]) }
    }

    private static let cases: [(withheld: SessionNeeds, event: String)] = [
        ([], "active"), (.radio, "radioDisabled"), (.freeReader, "systemBusy"),
        ([.radio, .freeReader], "radioDisabled"), ([.entitlement, .usageText], "active"),
    ]

    @Test(arguments: cases)
    func `ends a session as it begins, and says whether the radio is off or the reader is in use`(
        withheld: SessionNeeds,
        event: String
    ) async throws {
        let environment = NFCEnvironment(
            reader: .field(VirtualField()),
            clock: ManualClock(),
            isOfTest: false,
            host: Phone(withheld),
            place: nil
        )
        let session = try #require(ReaderSession(environment: environment))
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        session.observe { event in
            switch event {
            case .becameActive: continuation.yield("active")
            case .detected: break
            case .ended(let end): continuation.yield("\(end)")
            }
        }
        session.begin()
        var happened = events.makeAsyncIterator()
        #expect(await happened.next() == event)
        session.invalidate()
    }
}
