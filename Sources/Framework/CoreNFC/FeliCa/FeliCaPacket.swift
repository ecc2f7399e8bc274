// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Commands to FeliCa cards, from the command code on (FeliCa Card User's Manual, 4).
package enum FeliCaPacket {
    /// The commands that Core NFC names, with their codes. An answer has the next code.
    package enum Command: UInt8, Sendable {
        case polling = 0x00
        case requestService = 0x02
        case requestResponse = 0x04
        case readWithoutEncryption = 0x06
        case writeWithoutEncryption = 0x08
        case requestSystemCode = 0x0C
        case requestServiceV2 = 0x32
        case requestSpecificationVersion = 0x3C
        case resetMode = 0x3E
    }

    /// The maximum number of bytes of a packet, without its length.
    package static let maximumLength = 254

    /// Polling. It goes to every card, so it has no IDm.
    package static func polling(
        systemCode: Data,
        request: NFCFeliCaPollingRequestCode,
        slots: NFCFeliCaPollingTimeSlot
    ) -> Result<[UInt8], NFCReaderError> {
        guard systemCode.count == 2 else {
            return .failure(
                NFCReaderError(.readerErrorInvalidParameterLength, reason: "A system code has two bytes.")
            )
        }
        guard !systemCode.contains(0xFF) else {
            return .failure(
                NFCReaderError(
                    .readerErrorInvalidParameter,
                    reason: "A system code with FF stands for several systems, and can't be polled."
                )
            )
        }
        return .success(
            [Command.polling.rawValue] + systemCode + [UInt8(request.rawValue), UInt8(slots.rawValue)]
        )
    }

    /// A command with an IDm and parameters.
    package static func command(
        _ command: Command,
        idm: [UInt8],
        parameters: [UInt8] = []
    ) -> Result<[UInt8], NFCReaderError> {
        let packet = [command.rawValue] + idm + parameters
        guard packet.count <= maximumLength else { return .failure(tooLong) }
        return .success(packet)
    }

    /// A list of nodes with its count: 1 to 32, two bytes each.
    package static func nodes(_ list: [Data], limit: Int = 32) -> Result<[UInt8], NFCReaderError> {
        guard (1...limit).contains(list.count), list.allSatisfy({ $0.count == 2 }) else {
            return .failure(
                NFCReaderError(
                    .readerErrorInvalidParameterLength,
                    reason: "There are from 1 to \(limit) codes of two bytes each."
                )
            )
        }
        return .success([UInt8(list.count)] + list.flatMap { $0 })
    }

    /// A list of block list elements with its count. The top bit of an element's first byte says whether it has two or
    /// three bytes.
    package static func blocks(_ list: [Data]) -> Result<[UInt8], NFCReaderError> {
        let fits = list.allSatisfy { element in
            element.first.map { element.count == ($0 & 0x80 != 0 ? 2 : 3) } ?? false
        }
        guard (1...255).contains(list.count), fits else {
            return .failure(
                NFCReaderError(
                    .readerErrorInvalidParameterLength,
                    reason: "A block list element has two bytes when its first bit is 1, and three otherwise."
                )
            )
        }
        return .success([UInt8(list.count)] + list.flatMap { $0 })
    }

    /// The services and blocks of a read or write, and the data to write.
    package static func access(
        services: [Data],
        blocks list: [Data],
        data: [Data]? = nil
    ) -> Result<[UInt8], NFCReaderError> {
        nodes(services, limit: 16).flatMap { services in
            blocks(list).flatMap { blocks in
                guard let data else { return .success(services + blocks) }
                guard data.count == list.count, data.allSatisfy({ $0.count == 16 }) else {
                    return .failure(
                        NFCReaderError(
                            .readerErrorInvalidParameterLength,
                            reason: "There are as many blocks of data as list elements, 16 bytes each."
                        )
                    )
                }
                return .success(services + blocks + data.flatMap { $0 })
            }
        }
    }

    /// A packet that the caller builds.
    package static func raw(_ packet: Data) -> Result<[UInt8], NFCReaderError> {
        guard !packet.isEmpty else {
            return .failure(NFCReaderError(.readerErrorInvalidParameterLength, reason: "The packet is empty."))
        }
        guard packet.count <= maximumLength else { return .failure(tooLong) }
        return .success([UInt8](packet))
    }

    private static var tooLong: NFCReaderError {
        NFCReaderError(
            .readerTransceiveErrorPacketTooLong,
            reason: "A packet has at most \(maximumLength) bytes besides its length."
        )
    }
}

/// Answers of FeliCa cards, from the response code on (FeliCa Card User's Manual, 4).
package struct FeliCaAnswer: Sendable, Hashable {
    /// The IDm of the card that answered.
    package var idm: [UInt8]
    /// What follows the IDm.
    package var data: [UInt8]

    /// Reads an answer to a command.
    ///
    /// - Parameters:
    ///   - bytes: the answer from the response code on.
    ///   - command: the command that was sent.
    ///   - idm: the card that was addressed; nil for any card.
    package static func parse(
        _ bytes: [UInt8],
        to command: FeliCaPacket.Command,
        from idm: [UInt8]?
    ) -> Result<FeliCaAnswer, NFCReaderError> {
        guard bytes.count >= 9 else {
            return .failure(.unexpectedLength("An answer has at least a code and an IDm."))
        }
        guard bytes[0] == command.rawValue + 1, idm == nil || Array(bytes[1..<9]) == idm else {
            return .failure(
                NFCReaderError(
                    .readerTransceiveErrorTagResponseError,
                    reason: "The answer is not one to this command, or of another card."
                )
            )
        }
        return .success(FeliCaAnswer(idm: Array(bytes[1..<9]), data: Array(bytes[9...])))
    }

    /// The manufacture parameter, and the requested data or no bytes.
    package func polling() -> Result<(Data, Data), NFCReaderError> {
        guard data.count == 8 || data.count == 10 else {
            return .failure(.unexpectedLength("An answer to Polling has a PMm of 8 bytes, and perhaps 2 more."))
        }
        return .success((Data(data[..<8]), Data(data[8...])))
    }

    /// A count, and then that many items of two bytes.
    package func pairs() -> Result<[Data], NFCReaderError> {
        guard let count = data.first, data.count == 1 + 2 * Int(count) else {
            return .failure(.unexpectedLength("The answer does not hold as many items as it says."))
        }
        return .success(Self.split(data[1...], by: 2))
    }

    /// One byte.
    package func mode() -> Result<Int, NFCReaderError> {
        guard data.count == 1 else { return .failure(.unexpectedLength("A mode is one byte.")) }
        return .success(Int(data[0]))
    }

    /// Two status flags and no data.
    package func status() -> Result<NFCFeliCaStatusFlag, NFCReaderError> {
        guard data.count == 2 else { return .failure(.unexpectedLength("The answer is not two status flags.")) }
        return .success(NFCFeliCaStatusFlag(statusFlag1: Int(data[0]), statusFlag2: Int(data[1])))
    }

    /// Two status flags, and the blocks when the first is 0.
    package func blocks(count expected: Int) -> Result<(NFCFeliCaStatusFlag, [Data]), NFCReaderError> {
        guard data.count >= 2 else { return .failure(.unexpectedLength("The answer has no status flags.")) }
        let status = NFCFeliCaStatusFlag(statusFlag1: Int(data[0]), statusFlag2: Int(data[1]))
        if data[0] != 0 {
            guard data.count == 2 else {
                return .failure(.unexpectedLength("The answer has blocks although the card reports an error."))
            }
            return .success((status, []))
        }
        guard data.count == 3 + 16 * expected, Int(data[2]) == expected else {
            return .failure(.unexpectedLength("The answer does not hold the \(expected) blocks that were asked for."))
        }
        return .success((status, Self.split(data[3...], by: 16)))
    }

    /// Two status flags, and the kind of encryption with key versions when the first is 0.
    package func servicesV2(of nodes: Int) -> Result<NFCFeliCaRequsetServiceV2Response, NFCReaderError> {
        guard data.count >= 2 else { return .failure(.unexpectedLength("The answer has no status flags.")) }
        var answer = NFCFeliCaRequsetServiceV2Response(
            statusFlag1: Int(data[0]),
            statusFlag2: Int(data[1]),
            encryptionIdentifier: .AES,
            nodeKeyVersionListAES: nil,
            nodeKeyVersionListDES: nil
        )
        guard data[0] == 0 else { return .success(answer) }
        guard data.count >= 4, let encryption = NFCFeliCaEncryptionId(rawValue: Int(data[2])) else {
            return .failure(.unexpectedLength("The answer has no kind of encryption that is known."))
        }
        let count = Int(data[3])
        let lists = encryption == .AES ? 1 : 2
        guard data.count == 4 + 2 * count * lists else {
            return .failure(.unexpectedLength("The answer does not hold as many key versions as it says."))
        }
        guard count == nodes else { return .failure(.otherNodes) }
        answer.encryptionIdentifier = encryption
        answer.nodeKeyVersionListAES = Self.split(data[4..<(4 + 2 * count)], by: 2)
        if lists == 2 { answer.nodeKeyVersionListDES = Self.split(data[(4 + 2 * count)...], by: 2) }
        return .success(answer)
    }

    /// Two status flags, and versions when the first is 0.
    package func specificationVersion() -> Result<NFCFeliCaRequestSpecificationVersionResponse, NFCReaderError> {
        guard data.count >= 2 else { return .failure(.unexpectedLength("The answer has no status flags.")) }
        var answer = NFCFeliCaRequestSpecificationVersionResponse(
            statusFlag1: Int(data[0]),
            statusFlag2: Int(data[1]),
            basicVersion: nil,
            optionVersion: nil
        )
        guard data[0] == 0 else { return .success(answer) }
        // A format byte, the basic version, then a count and the option versions.
        guard data.count >= 6, data.count == 6 + 2 * Int(data[5]) else {
            return .failure(.unexpectedLength("The answer does not hold the versions that it says."))
        }
        answer.basicVersion = Data(data[3..<5])
        answer.optionVersion = Data(data[6...])
        return .success(answer)
    }

    private static func split(_ bytes: ArraySlice<UInt8>, by size: Int) -> [Data] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: size).map { Data(bytes[$0..<($0 + size)]) }
    }
}
