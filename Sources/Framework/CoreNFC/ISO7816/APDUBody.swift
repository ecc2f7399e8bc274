// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink

/// What follows the header of a command APDU (ISO/IEC 7816-4, 5.2): Lc, data and Le.
package struct APDUBody: Sendable, Hashable {
    /// The range of the data in the command.
    package var data: Range<Int>
    /// Le: -1 when it is absent.
    package var expectedLength: Int

    /// Parses the lengths of a command.
    ///
    /// - Parameter bytes: one whole command.
    /// - Returns: nil when the command is shorter than its header, or when its length does not match Lc and Le.
    package init?(parsing bytes: [UInt8]) {
        let count = bytes.count
        switch count {
        case ..<4: return nil
        case 4: self.init(data: 4..<4, expectedLength: -1)
        case 5: self.init(data: 4..<4, expectedLength: Self.short(bytes[4]))
        default:
            let first = Int(bytes[4])
            if first > 0 {
                // Lc of one byte, then perhaps Le of one byte.
                let end = 5 + first
                if count == end {
                    self.init(data: 5..<end, expectedLength: -1)
                } else if count == end + 1 {
                    self.init(data: 5..<end, expectedLength: Self.short(bytes[end]))
                } else {
                    return nil
                }
            } else {
                guard count >= 7 else { return nil }
                self.init(extended: bytes)
            }
        }
    }

    private init?(extended bytes: [UInt8]) {
        let count = bytes.count
        let length = Int(high: bytes[5], low: bytes[6])
        if count == 7 {
            self.init(data: 4..<4, expectedLength: length == 0 ? 65_536 : length)
            return
        }
        let end = 7 + length
        if length == 0 {
            return nil
        } else if count == end {
            self.init(data: 7..<end, expectedLength: -1)
        } else if count == end + 2 {
            let expected = Int(high: bytes[end], low: bytes[end + 1])
            self.init(data: 7..<end, expectedLength: expected == 0 ? 65_536 : expected)
        } else {
            return nil
        }
    }

    private init(data: Range<Int>, expectedLength: Int) {
        self.data = data
        self.expectedLength = expectedLength
    }

    private static func short(_ byte: UInt8) -> Int { byte == 0 ? 256 : Int(byte) }
}

extension NFCISO7816APDU {
    /// The command's bytes, in the short form if it is sufficient.
    package func encoded() -> Result<[UInt8], NFCReaderError> {
        let data = data ?? Data()
        guard data.count <= 65_535 else {
            return .failure(
                NFCReaderError(.readerErrorInvalidParameterLength, reason: "An APDU has at most 65535 bytes of data.")
            )
        }
        guard (-1...65_536).contains(expectedResponseLength) else {
            return .failure(
                NFCReaderError(
                    .readerErrorParameterOutOfBound,
                    reason: "expectedResponseLength is -1, or from 1 to 65536."
                )
            )
        }
        var bytes = [instructionClass, instructionCode, p1Parameter, p2Parameter]
        bytes.reserveCapacity(data.count + 9)
        // 0 means the same as 256 here: both are encoded as the byte 00.
        let expected = expectedResponseLength == 0 ? 256 : expectedResponseLength
        if data.count <= 255 && expected <= 256 {
            if !data.isEmpty {
                bytes.append(UInt8(data.count))
                bytes += data
            }
            if expected >= 0 { bytes.append(UInt8(truncatingIfNeeded: expected)) }
        } else {
            bytes.append(0)
            if !data.isEmpty {
                bytes += UInt16(data.count).bigEndianBytes
                bytes += data
            }
            if expected >= 0 {
                bytes += UInt16(truncatingIfNeeded: expected).bigEndianBytes
            }
        }
        return .success(bytes)
    }
}
