// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file descriptor that text is written to, whole.
package struct OutputDescriptor: Sendable {
    package let fileDescriptor: Int32

    package init(_ fileDescriptor: Int32) {
        self.fileDescriptor = fileDescriptor
    }

    package static let standardError = OutputDescriptor(STDERR_FILENO)
    package static let standardOutput = OutputDescriptor(STDOUT_FILENO)

    /// Writes all of a text. What can't be written, because nobody reads any more, is dropped.
    package func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while unsafe !rest.isEmpty {
                let count = unsafe Glibc.write(fileDescriptor, rest.baseAddress, rest.count)
                if count > 0 {
                    unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno == EAGAIN {
                    waitUntilWritable()
                } else if errno != EINTR {
                    return
                }
            }
        }
    }

    /// Whether the descriptor is a terminal.
    package var isTerminal: Bool { isatty(fileDescriptor) == 1 }

    private func waitUntilWritable() {
        var poller = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&poller, 1, 1000)
    }
}
