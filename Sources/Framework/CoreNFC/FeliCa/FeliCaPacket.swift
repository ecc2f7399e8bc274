// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Builds commands for FeliCa cards, starting with the command code (FeliCa Card User's Manual, 4).
enum FeliCaPacket {
    /// The commands that Core NFC names, with their codes. The code of an answer is one higher.
    enum Command: UInt8 {
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

    /// The maximum number of bytes in a packet, not counting the length byte.
    private static let maximumLength = 254

    /// Builds a Polling command, which has no IDm because it addresses every card.
    static func polling(
        systemCode: Data,
        request: NFCFeliCaPollingRequestCode,
        slots: NFCFeliCaPollingTimeSlot
    ) throws -> [UInt8] {
        guard systemCode.count == 2 else { throw wrongLength("A system code has two bytes.") }
        guard !systemCode.contains(0xFF) else {
            throw NFCReaderError(
                .readerErrorInvalidParameter,
                reason: "A system code with FF stands for several systems, and can't be polled."
            )
        }
        return [Command.polling.rawValue] + systemCode + [UInt8(request.rawValue), UInt8(slots.rawValue)]
    }

    /// Checks a packet that the caller has built. Every command except Polling carries the card's IDm.
    ///
    /// - Parameter idm: the only card that the packet may address; nil for any.
    static func raw(_ packet: some Collection<UInt8>, for idm: [UInt8]? = nil) throws -> [UInt8] {
        guard !packet.isEmpty else { throw wrongLength("The packet is empty.") }
        guard packet.count <= maximumLength else {
            throw NFCReaderError(
                .readerTransceiveErrorPacketTooLong,
                reason: "A packet can have at most \(maximumLength) bytes after its length byte."
            )
        }
        let bytes = Array(packet)
        if let idm, bytes[0] != Command.polling.rawValue, bytes.count >= 9, Array(bytes[1..<9]) != idm {
            throw NFCReaderError(
                .readerErrorSecurityViolation,
                reason: "The IDm in the packet is not currentIDm: it belongs to another system or card."
            )
        }
        return bytes
    }

    /// Encodes a list of nodes: the count, from 1 to `limit`, and two bytes for each node.
    static func nodes(_ list: [Data], limit: Int = 32) throws -> [UInt8] {
        guard (1...limit).contains(list.count), list.allSatisfy({ $0.count == 2 }) else {
            throw wrongLength("The list must have 1 to \(limit) codes of two bytes each.")
        }
        return [UInt8(list.count)] + list.flatMap { $0 }
    }

    /// Encodes the services and blocks of a read or write, and the data to write. A block list element has two bytes if
    /// the top bit of its first byte is set, or else three bytes.
    static func access(services: [Data], blocks: [Data], data: [Data]? = nil) throws -> [UInt8] {
        let services = try nodes(services, limit: 16)
        let fits = blocks.allSatisfy { element in
            element.first.map { element.count == ($0 & 0x80 != 0 ? 2 : 3) } ?? false
        }
        guard (1...255).contains(blocks.count), fits else {
            throw wrongLength("A block list element has two bytes when its first bit is 1, and three otherwise.")
        }
        if let data, data.count != blocks.count || !data.allSatisfy({ $0.count == 16 }) {
            throw wrongLength("The data must have one block of 16 bytes for each block list element.")
        }
        return services + [UInt8(blocks.count)] + blocks.flatMap { $0 } + (data ?? []).flatMap { $0 }
    }

    private static func wrongLength(_ reason: String) -> NFCReaderError {
        NFCReaderError(.readerErrorInvalidParameterLength, reason: reason)
    }
}

/// An answer of a FeliCa card, starting with the response code (FeliCa Card User's Manual, 4).
struct FeliCaAnswer {
    let idm: [UInt8]
    private let data: [UInt8]

    /// Parses an answer to a command.
    ///
    /// - Parameter idm: the IDm of the addressed card; nil for any card.
    init(parsing bytes: [UInt8], to command: FeliCaPacket.Command, from idm: [UInt8]?) throws {
        guard bytes.count >= 9 else {
            throw NFCReaderError.unexpectedLength("An answer must have at least a code and an IDm.")
        }
        self.idm = Array(bytes[1..<9])
        data = Array(bytes[9...])
        guard bytes[0] == command.rawValue + 1, idm == nil || self.idm == idm else {
            throw NFCReaderError(
                .readerTransceiveErrorTagResponseError,
                reason: "The answer belongs to another command, or is from another card."
            )
        }
    }

    /// Decodes the manufacture parameter, and the requested data or no bytes.
    func polling() throws -> (Data, Data) {
        guard data.count == 8 || data.count == 10 else {
            throw NFCReaderError.unexpectedLength(
                "An answer to Polling must have a PMm of 8 bytes, and can have 2 more bytes."
            )
        }
        return (Data(data[..<8]), Data(data[8...]))
    }

    /// Decodes a count, followed by this number of two-byte items.
    ///
    /// - Parameter nodes: the number of nodes in the command; nil for a command without nodes.
    func pairs(of nodes: Int? = nil) throws -> [Data] {
        guard let count = data.first, data.count == 1 + 2 * Int(count) else {
            throw NFCReaderError.unexpectedLength("The answer does not contain as many items as its count says.")
        }
        if let nodes, nodes != Int(count) { throw Self.otherNodes }
        return Self.split(data[1...], by: 2)
    }

    func mode() throws -> Int {
        guard data.count == 1 else {
            throw NFCReaderError.unexpectedLength("The mode should have 1 byte, but has \(data.count).")
        }
        return Int(data[0])
    }

    /// Decodes two status flags without further data.
    func status() throws -> NFCFeliCaStatusFlag {
        guard data.count == 2 else {
            throw NFCReaderError.unexpectedLength(
                "After the IDm, the answer should have 2 bytes (the status flags), but has \(data.count)."
            )
        }
        return try leadingStatus()
    }

    /// Decodes the two status flags before other data.
    private func leadingStatus() throws -> NFCFeliCaStatusFlag {
        guard data.count >= 2 else { throw NFCReaderError.unexpectedLength("The answer has no status flags.") }
        return NFCFeliCaStatusFlag(statusFlag1: Int(data[0]), statusFlag2: Int(data[1]))
    }

    /// Decodes two status flags, and the blocks when the first flag is 0.
    func blocks(count expected: Int) throws -> (NFCFeliCaStatusFlag, [Data]) {
        let status = try leadingStatus()
        if data[0] != 0 {
            guard data.count == 2 else {
                throw NFCReaderError.unexpectedLength("The answer has blocks although the card reports an error.")
            }
            return (status, [])
        }
        guard data.count == 3 + 16 * expected, Int(data[2]) == expected else {
            throw NFCReaderError.unexpectedLength(
                "The answer does not contain the \(expected) requested blocks."
            )
        }
        return (status, Self.split(data[3...], by: 16))
    }

    /// Decodes two status flags, and the kind of encryption with key versions when the first flag is 0.
    func servicesV2(of nodes: Int) throws -> NFCFeliCaRequsetServiceV2Response {
        var answer = NFCFeliCaRequsetServiceV2Response(try leadingStatus())
        guard data[0] == 0 else { return answer }
        guard data.count >= 4, let encryption = NFCFeliCaEncryptionId(rawValue: Int(data[2])) else {
            throw NFCReaderError.unexpectedLength("The answer names an unknown kind of encryption.")
        }
        let count = Int(data[3])
        let lists = encryption == .AES ? 1 : 2
        guard data.count == 4 + 2 * count * lists else {
            throw NFCReaderError.unexpectedLength("The answer does not contain as many key versions as its count says.")
        }
        guard count == nodes else { throw Self.otherNodes }
        answer.encryptionIdentifier = encryption
        answer.nodeKeyVersionListAES = Self.split(data[4..<(4 + 2 * count)], by: 2)
        if lists == 2 { answer.nodeKeyVersionListDES = Self.split(data[(4 + 2 * count)...], by: 2) }
        return answer
    }

    /// Decodes two status flags, and the versions when the first flag is 0.
    func specificationVersion() throws -> NFCFeliCaRequestSpecificationVersionResponse {
        var answer = NFCFeliCaRequestSpecificationVersionResponse(try leadingStatus())
        guard data[0] == 0 else { return answer }
        // The data are a format byte, the basic version, a count, and the option versions.
        guard data.count >= 6, data.count == 6 + 2 * Int(data[5]) else {
            throw NFCReaderError.unexpectedLength("The answer does not contain as many versions as its count says.")
        }
        answer.basicVersion = Data(data[3..<5])
        answer.optionVersion = Data(data[6...])
        return answer
    }

    private static var otherNodes: NFCReaderError { .unexpectedLength("The answer has a different node count.") }

    private static func split(_ bytes: ArraySlice<UInt8>, by size: Int) -> [Data] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: size).map { Data(bytes[$0..<($0 + size)]) }
    }
}

extension NFCFeliCaRequsetServiceV2Response {
    init(_ status: NFCFeliCaStatusFlag) {
        self.init(
            statusFlag1: status.statusFlag1,
            statusFlag2: status.statusFlag2,
            encryptionIdentifier: .AES,
            nodeKeyVersionListAES: nil,
            nodeKeyVersionListDES: nil
        )
    }
}

extension NFCFeliCaRequestSpecificationVersionResponse {
    init(_ status: NFCFeliCaStatusFlag) {
        self.init(
            statusFlag1: status.statusFlag1,
            statusFlag2: status.statusFlag2,
            basicVersion: nil,
            optionVersion: nil
        )
    }
}
