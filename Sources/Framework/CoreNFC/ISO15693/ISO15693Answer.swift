// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A response of ISO/IEC 15693-3: flags, then data or an error code.
package struct ISO15693Answer: Sendable {
    package var flags: NFCISO15693ResponseFlag
    package var data: [UInt8]

    /// Reads a response.
    ///
    /// - Parameter bytes: the response from the flags on, without its checksum.
    /// - Returns: flags and data; or, when the error flag is set, the tag's error with its code in the user info.
    package static func parse(_ bytes: [UInt8]) -> Result<ISO15693Answer, NFCReaderError> {
        guard let first = bytes.first else {
            return .failure(.unexpectedLength("The tag's answer is empty."))
        }
        let flags = NFCISO15693ResponseFlag(rawValue: first)
        let data = Array(bytes.dropFirst())
        guard flags.contains(.error) else { return .success(ISO15693Answer(flags: flags, data: data)) }
        guard let code = data.first else {
            return .failure(.unexpectedLength("The tag reports an error without saying which."))
        }
        return .failure(
            NFCReaderError(
                .readerTransceiveErrorTagResponseError,
                userInfo: [
                    NFCISO15693TagResponseErrorKey: Int(code),
                    NSLocalizedFailureReasonErrorKey: Self.reason(code),
                ]
            )
        )
    }

    /// What an error code means (ISO/IEC 15693-3, 7.4.2).
    private static func reason(_ code: UInt8) -> String {
        switch code {
        case 0x01: "The tag does not know the command."
        case 0x02: "The tag does not recognise the command."
        case 0x03: "The tag does not support the option."
        case 0x0F: "The tag reports an error without more detail."
        case 0x10: "The block does not exist."
        case 0x11: "The block is already locked."
        case 0x12: "The block is locked and can't be changed."
        case 0x13: "The block was not programmed."
        case 0x14: "The block was not locked."
        case 0x15: "The block is protected."
        case 0x40: "The tag reports an error of its cryptography."
        default: "The tag reports error 0x\(Data([code]).hex)."
        }
    }

    /// A response without data, such as to a write.
    package func nothing() -> Result<Void, NFCReaderError> {
        data.isEmpty ? .success(()) : .failure(.unexpectedLength("The tag's answer to the command has data."))
    }

    /// A response with the data of one block: at least one byte, after the security status if that was requested.
    package func block(withStatus: Bool) -> Result<Data, NFCReaderError> {
        guard (1...32).contains(data.count - (withStatus ? 1 : 0)) else {
            return .failure(.unexpectedLength("A block has from 1 to 32 bytes; the answer has \(data.count)."))
        }
        return .success(Data(data))
    }

    /// A response with the data of several blocks, all of one size.
    package func blocks(count: Int, withStatus: Bool) -> Result<[Data], NFCReaderError> {
        guard count > 0, data.count % count == 0,
            (1...32).contains(data.count / count - (withStatus ? 1 : 0))
        else {
            return .failure(.unexpectedLength("\(count) blocks don't fit in an answer of \(data.count) bytes."))
        }
        let size = data.count / count
        return .success(
            stride(from: 0, to: data.count, by: size).map { Data(data[$0..<($0 + size)]) }
        )
    }

    /// A response with one status for each block.
    package func statuses(count: Int) -> Result<[Int], NFCReaderError> {
        guard data.count == count else {
            return .failure(.unexpectedLength("The status of \(count) blocks has \(data.count) bytes."))
        }
        return .success(data.map { Int($0) })
    }

    /// A response to Get System Information.
    package func systemInfo() -> Result<NFCISO15693SystemInfo, NFCReaderError> {
        guard data.count >= 9 else {
            return .failure(.unexpectedLength("System information has at least 9 bytes; there are \(data.count)."))
        }
        let present = data[0]
        let sizes = [1, 1, 2, 1]
        let expected = (0..<4).reduce(9) { $0 + (present & (1 << $1) != 0 ? sizes[$1] : 0) }
        guard data.count == expected else {
            return .failure(.unexpectedLength("System information says that it has other fields than it has."))
        }
        var info = NFCISO15693SystemInfo(
            uniqueIdentifier: Data(data[1..<9]),
            dataStorageFormatIdentifier: -1,
            applicationFamilyIdentifier: -1,
            blockSize: -1,
            totalBlocks: -1,
            icReference: -1
        )
        var rest = data[9...]
        if present & 1 != 0 { info.dataStorageFormatIdentifier = Int(rest.removeFirst()) }
        if present & 2 != 0 { info.applicationFamilyIdentifier = Int(rest.removeFirst()) }
        if present & 4 != 0 {
            info.totalBlocks = Int(rest.removeFirst()) + 1
            info.blockSize = Int(rest.removeFirst() & 0x1F) + 1
        }
        if present & 8 != 0 { info.icReference = Int(rest.removeFirst()) }
        return .success(info)
    }
}
