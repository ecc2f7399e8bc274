// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type4Tag {
    /// Runs the NDEF detection procedure: selects the application, selects and reads the capability container, selects
    /// the NDEF file, and reads NLEN with the start of the message (NFC Forum T4T 1.2, 6.2).
    ///
    /// - Returns: the result. A second call makes no exchange.
    /// - Throws: ``TagError`` with `noCapabilityContainer` when there is no NDEF application or no capability
    ///   container, `badVersion`, `noMessageTLV` when the control TLV or its file is missing, `lengthOverrun` when NLEN
    ///   is larger than the file, `readProtected` when reading is restricted, `tagLost`, `badAnswer`, `cancelled`.
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
        var bytes = try await readBinary(offset: 0, count: Type4CapabilityContainer.minimumLength)
        let wanted = Type4CapabilityContainer.wantedLength(bytes)
        if wanted > bytes.count, bytes.count == Type4CapabilityContainer.minimumLength {
            bytes += try await readBinary(offset: bytes.count, count: wanted - bytes.count)
        }
        let container = try Type4CapabilityContainer(bytes)
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
            throw TagError(
                .readProtected,
                "The capability container does not grant free reading (NFC Forum T4T 1.2, 4.3)."
            )
        }
        try await selectMessageFile(container)
        let wanted = min(
            container.lengthSize + Self.firstReadLength,
            container.fileSize,
            readLimit(container, offset: 0)
        )
        let bytes = try await readBinary(offset: 0, count: wanted)
        guard bytes.count >= container.lengthSize else {
            throw TagError(
                .lengthOverrun,
                "The NDEF file ends before its length field (NFC Forum T4T 1.2, 4.2)."
            )
        }
        let length = Int(bytes: bytes[..<container.lengthSize])
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
        messageStart = Array(bytes[container.lengthSize...].prefix(length))
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
