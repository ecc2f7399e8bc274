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
