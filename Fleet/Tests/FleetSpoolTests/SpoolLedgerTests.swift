// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import FleetSpool

@Suite("What the spool knows of its events")
struct SpoolLedgerTests {
    @Test(
        "Of the reasons for dropped events, a full disk stays, and one that is known replaces one that is not",
        arguments: [
            (nil, .limit, .limit), (.limit, nil, .limit), (.limit, .disk, .disk), (.disk, .limit, .disk),
            (.disk, nil, .disk), (nil, nil, nil),
        ] as [(SpoolShortage?, SpoolShortage?, SpoolShortage?)]
    )
    func shortage(_ earlier: SpoolShortage?, _ later: SpoolShortage?, _ both: SpoolShortage?) {
        var dropped = SpoolLedger.Dropped(count: 2, first: 5, last: 6, shortage: earlier)
        dropped.add(.init(count: 3, first: 4, last: 9, shortage: later))
        #expect(dropped.shortage == both)
        #expect(dropped.count == 5 && dropped.first == 4 && dropped.last == 9)
    }
}
