// SPDX-License-Identifier: Apache-2.0
import NFCTestKit
import Testing

@Suite struct `What the kernel says of threads` {
    @Test func `A file that is opened and can't be read is empty, as that of a thread which ends meanwhile`() {
        var activity = ProcessActivity()
        // A directory is opened, and not read (EISDIR).
        #expect(activity.contents(of: "/proc/self/task").isEmpty)
        #expect(activity.contents(of: "/proc/self/task/nobody/stat").isEmpty)
        #expect(!activity.contents(of: "/proc/self/stat").isEmpty)
    }
}
