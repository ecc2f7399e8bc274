// SPDX-License-Identifier: Apache-2.0
import TagProtocols
import Testing

@testable import NFCRuntime

/// Checks after which failures nobody knows what a tag holds.
@Suite struct `A write that failed` {
    @Test(
        arguments: [
            (.tagLost, true), (.readerUnavailable, true), (.cancelled, true), (.readOnly, false), (.refused, false),
            (.updateFailed, false), (.messageTooLong, false), (.unsupported, false),
        ] as [(TagError.Code, Bool)]
    ) func `leaves doubt when its last command had no answer`(code: TagError.Code, leavesDoubt: Bool) {
        for step in [TagWriteFailure.Step.writing, .checking, .locking] {
            #expect(TagWriteFailure(step: step, error: TagError(code, "Why.")).leavesDoubt == leavesDoubt)
        }
    }
}
