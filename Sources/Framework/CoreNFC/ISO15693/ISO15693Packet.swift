// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A request of ISO/IEC 15693-3 as it is transmitted: flags, command, perhaps the UID, parameters.
package struct ISO15693Packet: Sendable, Hashable {
    /// The commands that Core NFC names, with their codes.
    package enum Command: UInt8, Sendable {
        case stayQuiet = 0x02
        case readSingleBlock = 0x20
        case writeSingleBlock = 0x21
        case lockBlock = 0x22
        case readMultipleBlocks = 0x23
        case writeMultipleBlocks = 0x24
        case select = 0x25
        case resetToReady = 0x26
        case writeAFI = 0x27
        case lockAFI = 0x28
        case writeDSFID = 0x29
        case lockDSFID = 0x2A
        case getSystemInformation = 0x2B
        case getMultipleBlockSecurityStatus = 0x2C
        case fastReadMultipleBlocks = 0x2D
        case extendedReadSingleBlock = 0x30
        case extendedWriteSingleBlock = 0x31
        case extendedLockBlock = 0x32
        case extendedReadMultipleBlocks = 0x33
        case extendedWriteMultipleBlocks = 0x34
        case authenticate = 0x35
        case keyUpdate = 0x36
        case challenge = 0x39
        case readBuffer = 0x3A
        case extendedGetMultipleBlockSecurityStatus = 0x3C
        case extendedFastReadMultipleBlocks = 0x3D
    }

    /// The maximum number of bytes of a frame, checksum included.
    static let maximumFrameLength = 256

    /// Builds a request, which is addressed by default: unless the select flag is set, it sets the address flag and
    /// adds the UID.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - flags: the caller's flags.
    ///   - uid: the tag's UID, most significant byte first.
    ///   - parameters: what follows the UID.
    /// - Returns: the frame without its checksum, or `readerTransceiveErrorPacketTooLong`.
    package static func frame(
        _ command: Command,
        flags: NFCISO15693RequestFlag,
        uid: [UInt8],
        parameters: [UInt8] = []
    ) -> Result<[UInt8], NFCReaderError> {
        var flags = flags
        let isAddressed: Bool
        switch command {
        case .challenge:
            // A challenge is for all tags at once (ISO/IEC 15693-3, 10.4.19).
            isAddressed = false
        case .stayQuiet, .select:
            // These need a UID, and do not allow the select flag.
            isAddressed = true
            flags.remove(.select)
        default: isAddressed = !flags.contains(.select)
        }
        if isAddressed { flags.insert(.address) } else { flags.remove(.address) }
        return checked([flags.rawValue, command.rawValue] + (isAddressed ? uid.reversed() : []) + parameters)
    }

    /// Builds a custom command. The manufacturer's code follows the command, and the caller gives the rest.
    ///
    /// - Parameters:
    ///   - code: the command's code, 0xA0 to 0xDF.
    ///   - flags: the caller's flags. If the address flag is set, `parameters` contains the UID.
    ///   - manufacturer: the manufacturer's code.
    ///   - parameters: what follows the manufacturer's code.
    package static func custom(
        code: Int,
        flags: NFCISO15693RequestFlag,
        manufacturer: Int,
        parameters: [UInt8]
    ) -> Result<[UInt8], NFCReaderError> {
        guard let code = UInt8(exactly: code), (0xA0...0xDF).contains(code) else {
            return .failure(
                NFCReaderError(
                    .readerErrorParameterOutOfBound,
                    reason: "The code of a custom command is from 0xA0 to 0xDF."
                )
            )
        }
        guard let manufacturer = UInt8(exactly: manufacturer) else {
            return .failure(
                NFCReaderError(.readerErrorParameterOutOfBound, reason: "A manufacturer's code is from 0 to 0xFF.")
            )
        }
        return checked([flags.rawValue, code, manufacturer] + parameters)
    }

    /// Builds a request from the caller's flags, command and data, and adds nothing.
    package static func raw(flags: Int, code: Int, data: [UInt8]) -> Result<[UInt8], NFCReaderError> {
        guard let flags = UInt8(exactly: flags), let code = UInt8(exactly: code) else {
            return .failure(
                NFCReaderError(.readerErrorParameterOutOfBound, reason: "Flags and command are one byte each.")
            )
        }
        return checked([flags, code] + data)
    }

    private static func checked(_ frame: [UInt8]) -> Result<[UInt8], NFCReaderError> {
        guard frame.count + 2 <= maximumFrameLength else {
            return .failure(
                NFCReaderError(
                    .readerTransceiveErrorPacketTooLong,
                    reason: "A frame has at most \(maximumFrameLength) bytes."
                )
            )
        }
        return .success(frame)
    }

    // MARK: Parameters

    /// A block number of one byte, or of two in extended commands.
    package static func block(_ number: Int, isExtended: Bool) -> Result<[UInt8], NFCReaderError> {
        let last = isExtended ? 0xFFFF : 0xFF
        guard (0...last).contains(number) else {
            return .failure(
                NFCReaderError(.readerErrorParameterOutOfBound, reason: "Blocks are numbered from 0 to \(last).")
            )
        }
        return .success(little(number, isExtended: isExtended))
    }

    /// The first block, and the number of blocks minus one.
    package static func blocks(_ range: NSRange, isExtended: Bool) -> Result<[UInt8], NFCReaderError> {
        let last = isExtended ? 0xFFFF : 0xFF
        guard (0...last).contains(range.location), (1...(last + 1)).contains(range.length),
            range.location + range.length <= last + 1
        else {
            return .failure(
                NFCReaderError(
                    .readerErrorParameterOutOfBound,
                    reason: "Blocks are numbered from 0 to \(last), and a range has at least one."
                )
            )
        }
        return .success(
            little(range.location, isExtended: isExtended) + little(range.length - 1, isExtended: isExtended)
        )
    }

    /// A range with its data.
    package static func blocks(
        _ range: NSRange,
        data: [Data],
        isExtended: Bool
    ) -> Result<[UInt8], NFCReaderError> {
        blocks(range, isExtended: isExtended).flatMap { header in
            let sizes = Set(data.map(\.count))
            guard data.count == range.length, sizes.count == 1, !sizes.contains(0) else {
                return .failure(
                    NFCReaderError(
                        .readerErrorInvalidParameterLength,
                        reason: "There are as many blocks of data as in the range, all of one size."
                    )
                )
            }
            return .success(header + data.flatMap { $0 })
        }
    }

    private static func little(_ value: Int, isExtended: Bool) -> [UInt8] {
        let low = UInt8(truncatingIfNeeded: value)
        return isExtended ? [low, UInt8(truncatingIfNeeded: value >> 8)] : [low]
    }
}

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
