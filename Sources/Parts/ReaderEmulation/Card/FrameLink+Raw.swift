// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Frames as a host sends them through a reader that lets it choose who takes care of checksums.
extension FrameLink {
    /// Sends bytes and waits for the answer.
    ///
    /// - Parameters:
    ///   - bytes: what to send; at least one byte.
    ///   - bitsOfLastOctet: how many bits of the last one go out, 1 to 8. Fewer than 8 have no checksum.
    ///   - appends: whether the reader appends the technology's checksum.
    ///   - removes: whether the reader checks and removes that of the answer.
    ///   - timeout: how long to wait.
    func transceive(
        raw octets: [UInt8],
        bitsOfLastOctet: Int = 8,
        appends: Bool,
        removes: Bool,
        timeout: Airtime
    ) async throws(LinkError) -> Frame {
        let adds = appends && bitsOfLastOctet == 8
        guard bitsOfLastOctet == 8 else {
            let frame = Frame(bits: octets, validBitsInLastByte: bitsOfLastOctet)
            return try await transceive(frame, timeout: timeout)
        }
        // The link appends and removes together; where the host wants one of them alone, the other is done here.
        if adds == removes {
            return try await transceive(Frame(octets, checksum: adds ? .automatic : .none), timeout: timeout)
        }
        let sent = adds ? octets + technology.checksum(octets) : octets
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
