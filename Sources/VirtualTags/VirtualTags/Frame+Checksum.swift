// SPDX-License-Identifier: Apache-2.0
public import TagLink

extension Frame {
    /// Returns the bytes without their checksum: CRC_A for NFC-A, CRC_B for NFC-B and NFC-V, the CRC of FeliCa for
    /// NFC-F. Nil when it is wrong, missing or of another technology.
    public func payload(checkedBy technology: Technology) -> [UInt8]? {
        switch checksum {
        case .automatic: return bytes
        case .crcB: return technology == .nfcB || technology == .nfcV ? bytes : nil
        case .none: return payload(endingInChecksumBy: technology.checksum)
        }
    }

    /// Returns all bytes on the air, including the checksum if `checksum` asks for it.
    func bytesOnAir(_ technology: Technology) -> [UInt8] {
        switch checksum {
        case .none: bytes
        case .automatic: bytes + technology.checksum(bytes)
        case .crcB: bytes + Technology.nfcB.checksum(bytes)
        }
    }

    private func payload(endingInChecksumBy checksum: ([UInt8]) -> [UInt8]) -> [UInt8]? {
        guard validBitsInLastByte == 8, bytes.count > 2 else { return nil }
        let payload = Array(bytes.dropLast(2))
        return checksum(payload) == Array(bytes.suffix(2)) ? payload : nil
    }

    /// Returns an answer as the reader reports it, by the checksum setting of the request; nil when its checksum is
    /// wrong.
    func received(inAnswerTo request: Frame, _ technology: Technology) -> Frame? {
        if bitCount < 8 || checksum == request.checksum { return self }
        switch request.checksum {
        case .none: return Frame(bytesOnAir(technology), checksum: .none)
        case .automatic:
            guard let payload = payload(checkedBy: technology) else { return nil }
            return Frame(payload)
        case .crcB:
            guard checksum == .none, let payload = payload(endingInChecksumBy: Technology.nfcB.checksum) else {
                return nil
            }
            return Frame(payload, checksum: .crcB)
        }
    }
}
