// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A buffer for the longest response. It is reused, because allocating and freeing so much memory takes a considerable
/// part of an exchange's time.
///
/// Sendable because only one call uses it at a time.
@safe final class ResponseBuffer: @unchecked Sendable {
    /// 65536 bytes, a status word, and the space that pcsc-lite adds.
    private static let size = 65538 + 10

    private let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: size)

    deinit {
        unsafe memory.deallocate()
    }

    /// Lets a call fill the buffer.
    ///
    /// - Parameter call: receives the memory and its size, and replaces the size by the length of the response.
    /// - Returns: the call's status, and the response if the status is 0.
    func fill(
        _ call: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt>) -> Int
    ) -> (status: Int, response: [UInt8]) {
        var count = UInt(Self.size)
        let status = unsafe call(memory, &count)
        let length = status == 0 ? min(Self.size, Int(count)) : 0
        return (status, unsafe Array(UnsafeBufferPointer(start: memory, count: length)))
    }
}
