// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// What `nfc` prints, in the cases of the folder `Cases`.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct SnapshotTests {
    @Test(arguments: SnapshotCase.all)
    func `snapshot case: nfc prints what its file says, and leaves the files that it lists`(_ found: SnapshotCase)
        throws
    {
        let (expected, actual) = (try found.expected(), try found.run())
        guard expected != actual else { return }
        if ProcessInfo.processInfo.environment["SNAPSHOT_UPDATE"] != nil {
            try found.update(actual)
        } else {
            Issue.record("\(found.name):\n\(SnapshotCase.difference(expected, actual))")
        }
    }
}

extension SnapshotCase: CustomTestStringConvertible {
    var testDescription: String { name }
}
