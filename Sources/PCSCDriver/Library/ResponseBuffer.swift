// SPDX-License-Identifier: Apache-2.0

/// Memory for the longest response there is. It is kept from call to call, since getting and returning so much costs as
/// much as a part of an exchange.
///
/// Sendable because one call uses it at a time.
@safe final class ResponseBuffer: @unchecked Sendable {
    /// 65536 octets, a status word, and what pcsc-lite leaves besides.
    private static let size = 65538 + 10

    private let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: size)

    deinit {
        unsafe memory.deallocate()
    }

    /// Lets a call fill it.
    ///
    /// - Parameter call: is given the memory and its size, and puts the response's length in the latter's place.
    /// - Returns: the call's status, and the response when that is 0.
    func fill(
        _ call: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt>) -> Int
    ) -> (status: Int, response: [UInt8]) {
        var count = UInt(Self.size)
        let status = unsafe call(memory, &count)
        let length = status == 0 ? min(Self.size, Int(count)) : 0
        return (status, unsafe Array(UnsafeBufferPointer(start: memory, count: length)))
    }
}
