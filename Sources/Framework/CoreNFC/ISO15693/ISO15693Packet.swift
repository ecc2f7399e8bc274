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
