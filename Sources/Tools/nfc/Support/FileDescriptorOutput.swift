// SPDX-License-Identifier: Apache-2.0
import Glibc

enum FileDescriptorOutput {
    /// Writes all bytes; waits when the other end is slow.
    ///
    /// - Returns: the errno of the failure; nil when all is written.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        unsafe bytes.withUnsafeBytes { memory in
            var offset = 0
            while offset < memory.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: memory[offset...])
                let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count >= 0 {
                    offset += count
                } else if errno == EAGAIN {
                    var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = unsafe poll(&poller, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }
}
