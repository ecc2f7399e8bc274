// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TagTrace

@Suite struct `Errors of a recording` {
    @Test func `Two of them are equal when their codes are`() {
        let error = RecordingError(.malformed, "Line 1 is no JSON.", line: 1)
        let sameKind = RecordingError(.malformed, "Line 2 has no time.", line: 2)
        let otherKind = RecordingError(.tooLarge, "Line 1 is no JSON.", line: 1)
        #expect(error == sameKind && error != otherKind)
        #expect(Set([error, sameKind, otherKind]).count == 2)
    }
}
