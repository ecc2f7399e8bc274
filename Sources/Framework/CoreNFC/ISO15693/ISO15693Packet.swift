// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagLink

/// Builds ISO/IEC 15693-3 requests: the flags, the command, the UID if addressed, and the parameters.
enum ISO15693Packet {
    /// The commands that Core NFC names, with their codes.
    enum Command: UInt8 {
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

        /// Whether block numbers have two bytes.
        var isExtended: Bool { rawValue >= 0x30 }
    }

    enum Parameters {
        case none
        case byte(UInt8)
        case block(Int, data: Data? = nil)
        /// The first block, the number of blocks minus one, and the data to write.
        case blocks(NSRange, data: [Data]? = nil)
        /// The identifier of a key or of a cryptographic suite, and the message for it.
        case message(Int, Data)
    }

    /// The maximum number of bytes in a frame, including the checksum.
    private static let maximumFrameLength = 256

    /// Builds a request. Unless the select flag is set, this sets the address flag and adds the UID.
    ///
    /// - Parameter uid: the tag's UID, most significant byte first.
    /// - Returns: the frame without its checksum.
    static func frame(_ command: Command, flags: NFCISO15693RequestFlag, uid: [UInt8], parameters: Parameters) throws
        -> [UInt8]
    {
        var flags = flags
        let isAddressed: Bool
        switch command {
        case .challenge:
            // A challenge is sent to all tags at once (ISO/IEC 15693-3, 10.4.19).
            isAddressed = false
        case .stayQuiet, .select:
            // These commands need a UID, and do not allow the select flag.
            isAddressed = true
            flags.remove(.select)
        default: isAddressed = !flags.contains(.select)
        }
        if isAddressed { flags.insert(.address) } else { flags.remove(.address) }
        let header = [flags.rawValue, command.rawValue] + (isAddressed ? uid.reversed() : [])
        return try withCheckedLength(header + bytes(of: parameters, isExtended: command.isExtended))
    }

    /// Builds a custom command: the flags, the code from 0xA0 to 0xDF, the manufacturer's code, and the caller's
    /// parameters. The address flag is an error, because a phone refuses it, with and without a UID.
    static func custom(code: Int, flags: NFCISO15693RequestFlag, manufacturer: Int, parameters: Data) throws -> [UInt8]
    {
        guard let code = UInt8(exactly: code), (0xA0...0xDF).contains(code) else {
            throw NFCReaderError(
                .readerErrorInvalidParameter,
                reason: "The code of a custom command must be from 0xA0 to 0xDF."
            )
        }
        guard let manufacturer = UInt8(exactly: manufacturer) else {
            throw outOfBound("A manufacturer's code must be from 0 to 0xFF.")
        }
        guard !flags.contains(.address) else {
            throw NFCReaderError.refusedByPhone("A custom command can't be addressed: leave out the flag and the UID.")
        }
        return try withCheckedLength([flags.rawValue, code, manufacturer] + parameters)
    }

    /// Builds a request from the caller's flags, command and data, exactly as given.
    static func raw(flags: Int, code: Int, data: Data) throws -> [UInt8] {
        guard let flags = UInt8(exactly: flags), let code = UInt8(exactly: code) else {
            throw outOfBound("The flags and the command must be one byte each.")
        }
        return try withCheckedLength([flags, code] + data)
    }

    private static func withCheckedLength(_ frame: [UInt8]) throws -> [UInt8] {
        guard frame.count + 2 <= maximumFrameLength else {
            throw NFCReaderError(
                .readerTransceiveErrorPacketTooLong,
                reason: "A frame has at most \(maximumFrameLength) bytes."
            )
        }
        return frame
    }

    // MARK: Parameters

    /// Encodes parameters. Block numbers have one byte, or two bytes in extended commands.
    private static func bytes(of parameters: Parameters, isExtended: Bool) throws -> [UInt8] {
        let last = isExtended ? 0xFFFF : 0xFF
        switch parameters {
        case .none: return []
        case .byte(let byte): return [byte]
        case .message(let identifier, let message):
            guard let byte = UInt8(exactly: identifier) else { throw outOfBound("The identifier must be one byte.") }
            return [byte] + message
        case .block(let number, let data):
            guard (0...last).contains(number) else { throw outOfBound("Blocks are numbered from 0 to \(last).") }
            guard (1...32).contains(data?.count ?? 1) else { throw wrongLength("A block has from 1 to 32 bytes.") }
            return encode(number, isExtended: isExtended) + (data ?? Data())
        case .blocks(let range, let data):
            guard (0...last).contains(range.location), (1...(last + 1)).contains(range.length),
                range.location + range.length <= last + 1
            else { throw outOfBound("Blocks are numbered from 0 to \(last), and a range has at least one block.") }
            if let data, data.count != range.length || data[0].isEmpty || Set(data.map(\.count)).count > 1 {
                throw wrongLength("The data must have one block for each block of the range, all of the same size.")
            }
            return encode(range.location, isExtended: isExtended) + encode(range.length - 1, isExtended: isExtended)
                + (data ?? []).flatMap { $0 }
        }
    }

    private static func encode(_ value: Int, isExtended: Bool) -> [UInt8] {
        let low = UInt8(truncatingIfNeeded: value)
        return isExtended ? [low, UInt8(truncatingIfNeeded: value >> 8)] : [low]
    }

    private static func wrongLength(_ reason: String) -> NFCReaderError {
        NFCReaderError(.readerErrorInvalidParameterLength, reason: reason)
    }

    private static func outOfBound(_ reason: String) -> NFCReaderError {
        NFCReaderError(.readerErrorParameterOutOfBound, reason: reason)
    }
}

/// An ISO/IEC 15693-3 response: flags, followed by data.
struct ISO15693Answer: Sendable {
    let flags: NFCISO15693ResponseFlag
    let data: [UInt8]

    /// A placeholder that is passed to completion handlers together with an error.
    static let empty = ISO15693Answer(flags: [], data: [])

    private init(flags: NFCISO15693ResponseFlag, data: [UInt8]) {
        self.flags = flags
        self.data = data
    }

    /// Parses a response.
    ///
    /// - Parameter bytes: the response, starting with the flags, without its checksum.
    /// - Throws: the tag's error, with its code in the user info, when the error flag is set.
    init(parsing bytes: [UInt8]) throws {
        guard let first = bytes.first else { throw NFCReaderError.unexpectedLength("The tag's answer is empty.") }
        flags = NFCISO15693ResponseFlag(rawValue: first)
        data = Array(bytes.dropFirst())
        guard flags.contains(.error) else { return }
        guard let code = data.first else {
            throw NFCReaderError.unexpectedLength("The tag reports an error without an error code.")
        }
        throw NFCReaderError(
            .readerTransceiveErrorTagResponseError,
            userInfo: [
                // The phone's text for an answer with an error, which is not the text for a missing answer.
                NSLocalizedDescriptionKey: "Tag response error",
                NFCISO15693TagResponseErrorKey: Int(code), NSLocalizedFailureReasonErrorKey: Self.reason(code),
            ]
        )
    }

    /// Explains an error code (ISO/IEC 15693-3, 7.4.2).
    private static func reason(_ code: UInt8) -> String {
        switch code {
        case 0x01: "The tag does not support the command."
        case 0x02: "The tag does not recognise the command."
        case 0x03: "The tag does not support the option."
        case 0x0F: "The tag reports an error without more detail."
        case 0x10: "The block does not exist."
        case 0x11: "The block is already locked."
        case 0x12: "The block is locked and can't be changed."
        case 0x13: "The block was not programmed."
        case 0x14: "The block was not locked."
        case 0x15: "The block is protected."
        case 0x40: "The tag reports a cryptographic error."
        default: "The tag reports error 0x\(Data([code]).hexText())."
        }
    }

    /// Checks that the response has no data, as after a write.
    func expectNoData() throws {
        guard data.isEmpty else {
            throw NFCReaderError.unexpectedLength("The tag's answer should have no data, but has \(data.count) bytes.")
        }
    }

    /// Decodes one block: the security status if requested, and at least one byte of data.
    func block(withStatus: Bool) throws -> Data {
        guard (1...32).contains(data.count - (withStatus ? 1 : 0)) else {
            throw NFCReaderError.unexpectedLength("A block has from 1 to 32 bytes; the answer has \(data.count).")
        }
        return Data(data)
    }

    func blocks(count: Int, withStatus: Bool) throws -> [Data] {
        guard count > 0, data.count % count == 0, (1...32).contains(data.count / count - (withStatus ? 1 : 0)) else {
            throw NFCReaderError.unexpectedLength("\(count) blocks don't fit in an answer of \(data.count) bytes.")
        }
        let size = data.count / count
        return stride(from: 0, to: data.count, by: size).map { Data(data[$0..<($0 + size)]) }
    }

    /// Decodes one status for each block.
    func statuses(count: Int) throws -> [NSNumber] {
        guard data.count == count else {
            throw NFCReaderError.unexpectedLength(
                "The answer has the status of \(data.count) blocks instead of \(count)."
            )
        }
        return data.map { NSNumber(value: Int($0)) }
    }

    func systemInfo() throws -> NFCISO15693SystemInfo {
        guard data.count >= 9 else {
            throw NFCReaderError.unexpectedLength(
                "System information should have at least 9 bytes, but has \(data.count)."
            )
        }
        let fieldFlags = data[0]
        let sizes = [1, 1, 2, 1]
        let expected = (0..<4).reduce(9) { $0 + (fieldFlags & (1 << $1) != 0 ? sizes[$1] : 0) }
        guard data.count == expected else {
            throw NFCReaderError.unexpectedLength("The fields of the system information do not match its flags.")
        }
        var info = NFCISO15693SystemInfo.empty
        info.uniqueIdentifier = Data(data[1..<9])
        var rest = data[9...]
        if fieldFlags & 1 != 0 { info.dataStorageFormatIdentifier = Int(rest.removeFirst()) }
        if fieldFlags & 2 != 0 { info.applicationFamilyIdentifier = Int(rest.removeFirst()) }
        if fieldFlags & 4 != 0 {
            info.totalBlocks = Int(rest.removeFirst()) + 1
            info.blockSize = Int(rest.removeFirst() & 0x1F) + 1
        }
        if fieldFlags & 8 != 0 { info.icReference = Int(rest.removeFirst()) }
        return info
    }
}

extension NFCISO15693SystemInfo {
    /// A value without any information.
    static var empty: NFCISO15693SystemInfo { NFCISO15693SystemInfo(nil, -1, -1, -1, -1, -1) }
}
