// SPDX-License-Identifier: Apache-2.0
import CSystemCalls
import Glibc

/// A pipe whose ends are closed in programs that are started, from the moment that it is made.
public struct DescriptorPipe: Sendable {
    /// The end that is read.
    public let reader: Int32
    /// The end that is written.
    public let writer: Int32

    /// Makes a pipe; whoever makes it closes both ends.
    ///
    /// - Parameter blocks: whether reading and writing wait.
    /// - Returns: nil when the process has no more descriptors.
    public init?(blocks: Bool = true) {
        var ends: [Int32] = [-1, -1]
        guard unsafe ocn_pipe(&ends) == 0 else { return nil }
        if !blocks {
            for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        }
        (reader, writer) = (ends[0], ends[1])
    }
}
