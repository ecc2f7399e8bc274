// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// A connection to a simulator that a test plays by itself.
struct SocketPair: Sendable {
    /// The reader's end, which does not block. The reader closes it.
    let reader: Int32
    /// The simulator's end, which the test closes.
    let simulator: Int32

    init() throws(LinkError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw LinkError(.readerUnavailable, "There are no sockets.")
        }
        (reader, simulator) = (ends[0], ends[1])
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    }

    /// Sends a line to the reader.
    func send(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = unsafe Glibc.send(simulator, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
