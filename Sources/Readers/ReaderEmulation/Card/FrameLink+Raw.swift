// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Frames of a host that chooses who handles the checksums.
extension FrameLink {
    /// Sends bytes and waits for the answer.
    ///
    /// - Parameters:
    ///   - bytes: the bytes to send, at least one.
    ///   - bitsOfLastByte: the number of bits to send of the last byte, 1 to 8. With fewer than 8 there is no
    ///     checksum.
    ///   - appends: whether the reader appends the technology's checksum.
    ///   - removes: whether the reader checks and removes the answer's checksum.
    ///   - timeout: how long to wait.
    func transceive(
        raw bytes: [UInt8],
        bitsOfLastByte: Int = 8,
        appends: Bool,
        removes: Bool,
        timeout: Airtime
    ) async throws(LinkError) -> Frame {
        guard bitsOfLastByte == 8 else {
            let frame = Frame(bits: bytes, validBitsInLastByte: bitsOfLastByte)
            return try await transceive(frame, timeout: timeout)
        }
        // The link can only do both. If the host wants only one of them, it is done here.
        if appends == removes {
            return try await transceive(Frame(bytes, checksum: appends ? .automatic : .none), timeout: timeout)
        }
        let sent = appends ? bytes + technology.checksum(bytes) : bytes
        var answer = try await transceive(Frame(sent, checksum: .none), timeout: timeout)
        if removes, answer.validBitsInLastByte == 8, answer.bytes.count > 2 {
            let payload = Array(answer.bytes.dropLast(2))
            guard technology.checksum(payload) == Array(answer.bytes.suffix(2)) else {
                throw LinkError(.transmission, "The answer's checksum is wrong.")
            }
            answer.bytes = payload
        }
        return answer
    }
}
