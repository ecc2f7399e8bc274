// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport
import Glibc

/// A pipe whose ends are closed in child programs (close-on-exec) from its creation on.
package struct DescriptorPipe: Sendable {
    /// The end to read from.
    package let reader: Int32
    /// The end to write to.
    package let writer: Int32

    /// Creates a pipe. The caller closes both ends.
    ///
    /// - Parameter blocks: whether reading and writing wait.
    /// - Returns: nil when the process can't open more descriptors.
    package init?(blocks: Bool = true) {
        var ends: [Int32] = [-1, -1]
        guard unsafe ocn_pipe(&ends) == 0 else { return nil }
        if !blocks {
            for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        }
        (reader, writer) = (ends[0], ends[1])
    }
}
