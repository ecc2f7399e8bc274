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
    ///
    /// - Returns: the number of the error that stopped it; nil when all is written.
    @discardableResult
    package func write(_ text: String) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while unsafe !rest.isEmpty {
                let count = unsafe Glibc.write(fileDescriptor, rest.baseAddress, rest.count)
                if count != -1 {
                    unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno == EAGAIN {
                    waitUntilWritable()
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }

    private func waitUntilWritable() {
        var poller = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&poller, 1, 1000)
    }
}
