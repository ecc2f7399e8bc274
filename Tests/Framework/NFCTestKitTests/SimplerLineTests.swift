// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NFCTestKit

/// Checks what an exploration tries when it looks for the shortest line of a failure.
@Suite struct `A simpler line of faults` {
    @Test(
        arguments: [
            ("loss@1", []), ("cancel@1", []), ("gone@2", []), ("tear@1:old", []), ("nak@2#7", ["loss@2#7"]),
            ("silence@3", ["loss@3"]), ("flip@4", ["loss@4"]), ("slip@5:9ms", ["loss@5"]),
            ("nak@2+tear@1:old", ["tear@1:old", "nak@2", "loss@2+tear@1:old"]),
            (
                "busy@1+loss@2+flip@3#4",
                ["loss@2+flip@3#4", "busy@1+flip@3#4", "busy@1+loss@2#4", "busy@1+loss@2+loss@3#4"]
            ),
            // A tag that comes back before nothing has slipped.
            ("loss@3,loss@9", ["loss@9", "slip@3", "loss@3+loss@9"]),
        ] as [(String, [String])]
    )
    func `has a fault less, or a loss in place of another fault`(line: String, simpler: [String]) {
        #expect(FaultScript(line).simpler.map(\.description) == simpler)
    }

    @Test(
        arguments: [
            (.zero, 1), (.milliseconds(1), 1), (.microseconds(2999), 2), (.milliseconds(1999), 1999),
            (.milliseconds(3_599_999), 3_599_999), (.seconds(3600), 3_600_000), (.milliseconds(3_600_001), 3_600_000),
            (.seconds(1 << 40), 3_600_000), (.seconds(-5), 1), (.milliseconds(-1500), 1),
        ] as [(Duration, Int)]
    )
    func `has whole milliseconds for a tag that slips, from one to those of an hour`(absence: Duration, expected: Int) {
        #expect(FaultScript.milliseconds(of: absence) == expected)
    }
}
