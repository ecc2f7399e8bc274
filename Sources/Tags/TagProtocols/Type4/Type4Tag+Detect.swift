// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type4Tag {
    /// Runs the NDEF detection procedure: selects the application, selects and reads the capability container, selects
    /// the NDEF file, and reads NLEN with the start of the message (NFC Forum T4T 1.2, 6.2).
    ///
    /// - Returns: the result. A second call makes no exchange.
    /// - Throws: ``TagError`` with `noCapabilityContainer` when there is no NDEF application or no capability
    ///   container, `badVersion`, `noMessageTLV` when the control TLV or its file is missing, `lengthOverrun` when NLEN
    ///   is larger than the file, `refused` when reading is restricted, `tagLost`, `badAnswer`, `cancelled`.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let container = try await readCapabilityContainer()
        let length = try await readMessageLength(container)
        return NDEFDetection(
            access: container.writeAccess == 0 ? .readWrite : .readOnly,
            capacity: container.capacity,
            messageLength: length
        )
    }

    /// Reads and checks the capability container.
    func readCapabilityContainer() async throws(TagError) -> Type4CapabilityContainer {
        if let lost { throw lost }
        if let capabilityContainer { return capabilityContainer }
        guard try await select(file: Type4CapabilityContainer.file) else {
            throw TagError(
                .noCapabilityContainer,
                "The NDEF application has no capability container file E103 (NFC Forum T4T 1.2, 5.5)."
            )
        }
        var octets = try await readBinary(offset: 0, count: Type4CapabilityContainer.minimumLength)
        let wanted = Type4CapabilityContainer.wantedLength(octets)
        if wanted > octets.count, octets.count == Type4CapabilityContainer.minimumLength {
            octets += try await readBinary(offset: octets.count, count: wanted - octets.count)
        }
        let container = try Type4CapabilityContainer(octets)
        capabilityContainer = container
        return container
    }

    /// Selects the NDEF application, unless it is selected already.
    func selectApplication() async throws(TagError) {
        guard !isApplicationSelected else { return }
        selectedFile = nil
        var status = try await send(.select(application: Self.applicationName)).status
        fileSelectParameter = 0x0C
        if !status.isSuccessOrWarning {
            status = try await send(.select(application: Self.applicationName1)).status
            fileSelectParameter = 0x00
        }
        guard status.isSuccessOrWarning else {
            throw TagError(
                .noCapabilityContainer,
                "The card has no NDEF Tag Application: SELECT gave \(status) (NFC Forum T4T 1.2, 5.5)."
            )
        }
        isApplicationSelected = true
    }

    /// Reads NLEN with the start of the message.
    ///
    /// - Parameter isForWriting: whether a broken length is accepted, because it will be overwritten.
    func readMessageLength(
        _ container: Type4CapabilityContainer,
        isForWriting: Bool = false
    ) async throws(TagError) -> Int {
        if let messageLength { return messageLength }
        guard container.readAccess == 0 else {
            throw TagError(.refused, "The capability container does not grant free reading (NFC Forum T4T 1.2, 4.3).")
        }
        try await selectMessageFile(container)
        let wanted = min(
            container.lengthSize + Self.firstReadLength,
            container.fileSize,
            readLimit(container, offset: 0)
        )
        let octets = try await readBinary(offset: 0, count: wanted)
        guard octets.count >= container.lengthSize else {
            throw TagError(
                .lengthOverrun,
                "The NDEF file ends before its length field (NFC Forum T4T 1.2, 4.2)."
            )
        }
        let length = Int(octets: octets[..<container.lengthSize])
        if isForWriting, length > min(container.capacity, Self.maximumMessageLength) { return length }
        guard length <= container.capacity else {
            throw TagError(
                .lengthOverrun,
                "NLEN is \(length), and the file has room for \(container.capacity) (NFC Forum T4T 1.2, 6.2)."
            )
        }
        guard length <= Self.maximumMessageLength else {
            throw TagError(.unsupported, "The message has \(length) bytes; \(Self.maximumMessageLength) is the most.")
        }
        messageLength = length
        messageStart = Array(octets[container.lengthSize...].prefix(length))
        return length
    }

    /// Selects the NDEF file.
    func selectMessageFile(_ container: Type4CapabilityContainer) async throws(TagError) {
        guard try await select(file: container.messageFile) else {
            throw TagError(
                .noMessageTLV,
                "The NDEF file that the capability container names is missing (NFC Forum T4T 1.2, 5.5)."
            )
        }
    }
}

/// The capability container file of a Type 4 tag (NFC Forum T4T 1.2, 4.3).
struct Type4CapabilityContainer: Equatable {
    /// The file's identifier.
    static let file: UInt16 = 0xE103
    /// The number of bytes up to the end of an NDEF file control TLV of mapping versions 1 and 2.
    static let minimumLength = 15
    /// The number of bytes up to the end of an extended control TLV of mapping version 3.
    static let extendedLength = 17

    /// The mapping version: 0x20 is 2.0.
    var version: UInt8
    /// MLe: the most bytes that one READ BINARY returns.
    var maximumRead: Int
    /// MLc: the most bytes that one UPDATE BINARY accepts.
    var maximumWrite: Int
    /// The NDEF file's identifier.
    var messageFile: UInt16
    /// The NDEF file's size, including its length field.
    var fileSize: Int
    /// The read access byte: 00 is unrestricted.
    var readAccess: UInt8
    /// The write access byte: 00 is unrestricted, FF is no access.
    var writeAccess: UInt8
    /// The size of the NDEF file's length field: 2 (NLEN), or 4 (ENLEN) with an extended control TLV.
    var lengthSize: Int

    /// The longest message.
    var capacity: Int { max(0, fileSize - lengthSize) }
    /// The offset of the write access byte in the file.
    var writeAccessOffset: Int { lengthSize == 4 ? 16 : 14 }

    /// Returns how many bytes of the file are needed, from its first bytes.
    static func wantedLength(_ octets: [UInt8]) -> Int {
        octets.count > 7 && octets[7] == 0x06 ? extendedLength : minimumLength
    }

    /// Reads the file's first bytes. Proprietary control TLVs after the first TLV are ignored.
    ///
    /// - Parameter octets: at least ``minimumLength`` bytes from the start of the file, if it has them.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`.
    init(_ octets: [UInt8]) throws(TagError) {
        guard octets.count >= 3 else {
            throw TagError(.noCapabilityContainer, "The capability container file is empty (NFC Forum T4T 1.2, 4.3).")
        }
        guard (1...3).contains(octets[2] >> 4) else {
            throw .badVersion(octets[2] >> 4, octets[2] & 0x0F, known: "1, 2 and 3 are", "T4T 1.2, 4.3")
        }
        let length = Int(octets: octets[0..<2])
        guard length >= Self.minimumLength, octets.count >= Self.minimumLength else {
            throw TagError(
                .noCapabilityContainer,
                "The capability container has fewer than 15 bytes (NFC Forum T4T 1.2, 4.3)."
            )
        }
        version = octets[2]
        maximumRead = Int(octets: octets[3..<5])
        maximumWrite = Int(octets: octets[5..<7])
        guard maximumRead >= 15, maximumWrite >= 1 else {
            throw TagError(
                .noCapabilityContainer,
                "MLe \(maximumRead) or MLc \(maximumWrite) is below 15 or 1 (NFC Forum T4T 1.2, 4.3)."
            )
        }
        let isExtended = octets[7] == 0x06 && octets[8] == 0x08 && octets.count >= Self.extendedLength
        guard isExtended || octets[7] == 0x04 && octets[8] == 0x06 else {
            throw TagError(
                .noMessageTLV,
                "The capability container does not begin with an NDEF file control TLV (NFC Forum T4T 1.2, 4.3)."
            )
        }
        let sizeEnd = isExtended ? 15 : 13
        messageFile = UInt16(high: octets[9], low: octets[10])
        fileSize = Int(octets: octets[11..<sizeEnd])
        readAccess = octets[sizeEnd]
        writeAccess = octets[sizeEnd + 1]
        lengthSize = isExtended ? 4 : 2
        guard ![0x0000, 0xE102, 0xE103, 0x3F00, 0x3FFF, 0xFFFF].contains(messageFile), fileSize >= lengthSize else {
            throw TagError(
                .noMessageTLV,
                "The NDEF file control TLV gives a reserved file identifier or no room (NFC Forum T4T 1.2, 4.3)."
            )
        }
    }
}
