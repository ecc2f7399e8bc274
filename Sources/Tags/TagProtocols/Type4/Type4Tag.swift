// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// The reader's side of a Type 4 tag: the NDEF application on any card with ISO-DEP, such as NTAG 424 DNA, DESFire EV1
/// to EV3, ST25TA and Java Cards (NFC Forum T4T 1.2, and mapping version 3).
///
/// NLEN is read together with the start of the message, and no response is longer than one block. So reading a message
/// takes as few commands as the card allows.
///
/// ```swift
/// let tag = Type4Tag(link: ISODEP(link: link))
/// let message = try await tag.readNDEF()
/// ```
public final class Type4Tag: ForumTag {
    /// The tag's type: always Type 4.
    public var type: ForumTagType? { .type4 }

    /// The link to the card.
    public let link: any APDULink

    /// The mapping version in the capability container, such as 0x20; nil before detection.
    public var mappingVersion: UInt8? { capabilityContainer?.version }

    package private(set) var capabilityContainer: Type4CapabilityContainer?
    private var isApplicationSelected = false
    /// P2 of SELECT by file identifier: 0C, or 00 with mapping version 1.0.
    private var fileSelectParameter: UInt8 = 0x0C
    /// The selected file.
    private var selectedFile: UInt16?
    private var messageLength: Int?
    private var messageStart: [UInt8] = []
    /// The error that every procedure throws after the card was lost.
    private var lost: TagError?

    /// The NDEF Tag Application of mapping versions 2 and 3.
    public static let applicationName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
    /// The NDEF Tag Application of mapping version 1.
    public static let applicationName1: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]

    /// The number of message bytes that the first READ BINARY of the NDEF file requests after the length field.
    ///
    /// The length of the message is only known after this read. Requesting the length alone takes one more exchange,
    /// 1.3 ms, for every message. Each unneeded byte takes 0.085 ms on a short message. With any number of bytes,
    /// either an empty tag or a message just over this length takes at least 1.12 times as long as with a known length.
    /// 20 bytes cover a whole short link. The factor is then 1.19 for an empty tag, 1.12 for messages of 21 bytes, and
    /// at most 1.10 from 48 bytes on.
    private static let firstReadLength = 20

    /// The longest message that is read or written. This limits how much memory a card can make the reader use.
    public static let maximumMessageLength = 1 << 20
    /// How many answers to READ BINARY may be shorter than requested while reading one message.
    private static let maximumShortAnswers = 8

    /// Creates a tag. Any application of the card may be selected beforehand.
    public init(link: any APDULink) { self.link = link }

    /// Starts ISO-DEP, unless it was already started.
    public func prepare() async throws(TagError) {
        guard let card = link as? ISODEP else { return }
        do throws(LinkError) {
            try await card.activate()
        } catch {
            throw TagError(link: error).remembered(in: &lost)
        }
    }

    /// Notifies this object that the card was activated again, so nothing is selected and ISO-DEP starts again.
    public func wasActivated() {
        link.wasActivated()
        selectionWasChanged()
        lost = nil
    }

    public func forgetMemory() {
        capabilityContainer = nil
        messageLength = nil
        messageStart = []
        selectionWasChanged()
    }

    /// Notifies this object that other code sent commands to the card and may have selected another application.
    public func selectionWasChanged() {
        isApplicationSelected = false
        selectedFile = nil
    }

    /// Returns whether the card still answers. Sends no command to its applications.
    public func isPresent() async -> Bool {
        guard lost == nil else { return false }
        return await link.isPresent()
    }

    // MARK: NDEF

    /// Runs the NDEF detection procedure: selects the application, selects and reads the capability container, selects
    /// the NDEF file, and reads NLEN with the start of the message (NFC Forum T4T 1.2, 6.2).
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let container = try await readCapabilityContainer()
        let length = try await readMessageLength(container)
        return NDEFDetection(
            access: container.writeAccess == 0 ? .readWrite : .readOnly,
            capacity: container.capacity,
            messageLength: length
        )
    }

    /// Reads the NDEF message (NFC Forum T4T 1.2, 6.3). Bytes already read by detection are not read again.
    ///
    /// - Throws: the errors of ``detectNDEF()``, and `badAnswer` when the card returns less than the whole message.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let length = try await detectNDEF().messageLength
        guard let container = capabilityContainer, messageStart.count < length else { return messageStart }
        try await selectMessageFile(container)
        var shortAnswers = 0
        while messageStart.count < length {
            let offset = container.lengthSize + messageStart.count
            let wanted = min(length - messageStart.count, readLimit(container, offset: offset))
            let bytes = try await readBinary(offset: offset, count: wanted)
            if bytes.count < wanted { shortAnswers += 1 }
            guard !bytes.isEmpty, shortAnswers <= Self.maximumShortAnswers else {
                throw TagError(
                    .badAnswer,
                    "READ BINARY returned \(bytes.count) of \(wanted) bytes inside the file (NFC Forum T4T 1.2, 5.3)."
                )
            }
            messageStart += bytes
        }
        return messageStart
    }

    /// Writes an NDEF message (NFC Forum T4T 1.2, 6.4).
    ///
    /// If MLc is smaller than the size of NLEN, which is allowed but does not occur in practice, a length of more than
    /// 255 is incomplete between two commands.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let container = try await readCapabilityContainer()
        let oldLength = try await readMessageLength(container, isForWriting: true)
        guard container.writeAccess == 0 else {
            throw TagError(.readOnly, "The capability container does not grant writing (NFC Forum T4T 1.2, 4.3).")
        }
        guard message.count <= container.capacity else { throw .messageTooLong(message, container.capacity) }
        guard message.count <= Self.maximumMessageLength else {
            throw TagError(.messageTooLong, "The message is longer than \(Self.maximumMessageLength) bytes.")
        }
        try await selectMessageFile(container)
        let plan = Type4WritePlan(
            message,
            lengthSize: container.lengthSize,
            oldLength: oldLength,
            limit: { self.writeLimit(container, offset: $0) }
        )
        messageLength = nil
        messageStart = []
        for step in plan.steps { try await updateBinary(offset: step.offset, step.bytes) }
        messageLength = message.count
        messageStart = message
    }

    /// Makes the tag read-only by setting write access FF in the capability container (NFC Forum T4T 1.2, 6.5).
    ///
    /// - Throws: ``TagError`` with `readOnly` when the tag is already read-only, `keyNeeded` when the card protects the
    ///   capability container with a key, `updateFailed` when the card refused, `tagLost`, and the errors of
    ///   ``detectNDEF()``.
    public func lock() async throws(TagError) {
        let container = try await readCapabilityContainer()
        guard container.writeAccess == 0 else { throw .alreadyReadOnly }
        guard try await select(file: Type4CapabilityContainer.file) else {
            throw TagError(.updateFailed, "The capability container can't be selected again (NFC Forum T4T 1.2, 5.5).")
        }
        capabilityContainer = nil
        try await updateBinary(offset: container.writeAccessOffset, [0xFF])
        var locked = container
        locked.writeAccess = 0xFF
        capabilityContainer = locked
    }

    /// Checks the access rights of the capability container, file 01, of a DESFire or an NTAG 4xx (NXP AN11004;
    /// NT4H2421Gx data sheet, 8.2). Other cards don't know the command, and are assumed to allow locking.
    public func checkLocking() async throws(TagError) {
        try await selectApplication()
        // Forgets the selection, so that later procedures send the same commands as without this check.
        defer { selectionWasChanged() }
        // GET FILE SETTINGS: type, communication mode, and the access rights, least significant byte first.
        let settings = try await send(CommandAPDU(0x90, 0xF5, 0x00, 0x00, data: [0x01], expectedLength: 256))
        guard settings.status.rawValue == 0x9100, settings.data.count >= 4 else { return }
        // E means free access.
        guard ![settings.data[3] & 0x0F, settings.data[2] >> 4].contains(0x0E) else { return }
        throw TagError(
            .keyNeeded,
            "A key is needed to make this card read-only: its capability container can't be written without one."
        )
    }

    /// Formats a MIFARE DESFire EV1 or later as an empty NDEF tag (NXP AN11004, 4): creates application 000001 with the
    /// DF name D2760000850101, and the files E103 and E104. The card must allow everyone to create applications, as new
    /// cards do.
    ///
    /// Afterwards, no access needs a key. ``lock()`` then writes the capability container, and only that byte protects
    /// the tag against writing. Cards that are already NDEF tags are not changed.
    ///
    /// - Throws: ``TagError`` with `unsupported` when the card isn't a DESFire with ISO file names, `updateFailed` when
    ///   the card refuses, for example because a key is needed, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        do throws(TagError) {
            _ = try await readCapabilityContainer()
            return
        } catch {
            guard error.code == .noCapabilityContainer else { throw error }
        }
        selectionWasChanged()
        guard let version = try await DESFireVersion.read(from: link), version.isDESFire, version.hardware[3] >= 1
        else { throw TagError(.unsupported, "Only MIFARE DESFire EV1 and later can be formatted without a key.") }
        // Sizes for cards of 2K, 4K and 8K. The largest leaves some bytes for the card's own data.
        let size = version.storageSize >= 8192 ? 0x1E00 : min(0x1000, version.storageSize)
        let (high, low) = (UInt8(size >> 8), UInt8(size & 0xFF))
        // Selects the card itself, then creates an application with one key and ISO file identifiers.
        try await sendNative(0x5A, [0x00, 0x00, 0x00])
        try await sendNative(0xCA, [0x01, 0x00, 0x00, 0x0F, 0x21, 0x10, 0xE1] + Self.applicationName, mayExist: true)
        try await sendNative(0x5A, [0x01, 0x00, 0x00])
        // Creates standard data files with plain communication and free access.
        try await sendNative(0xCD, [0x01, 0x03, 0xE1, 0x00, 0xEE, 0xEE, 0x0F, 0x00, 0x00], mayExist: true)
        try await sendNative(0xCD, [0x02, 0x04, 0xE1, 0x00, 0xEE, 0xEE, low, high, 0x00], mayExist: true)
        guard try await select(file: Type4CapabilityContainer.file) else {
            let reason = "The capability container was created but can't be selected (NFC Forum T4T 1.2, 5.5)."
            throw TagError(.updateFailed, reason)
        }
        // One command writes the whole container, so the version byte never exists without the rest.
        let container: [UInt8] = [
            0x00, 0x0F, 0x20, 0x00, 0x3B, 0x00, 0x34, 0x04, 0x06, 0xE1, 0x04, high, low, 0x00, 0x00,
        ]
        try await updateBinary(offset: 0, container)
    }

    // MARK: Selecting and reading

    /// Selects the NDEF application, unless it is already selected.
    private func selectApplication() async throws(TagError) {
        guard !isApplicationSelected else { return }
        selectedFile = nil
        var status = try await select(application: Self.applicationName)
        fileSelectParameter = 0x0C
        if !status.isSuccessOrWarning {
            status = try await select(application: Self.applicationName1)
            fileSelectParameter = 0x00
        }
        guard status.isSuccessOrWarning else {
            let reason = "The card has no NDEF Tag Application: SELECT gave \(status) (NFC Forum T4T 1.2, 5.5)."
            throw TagError(.noCapabilityContainer, reason)
        }
        isApplicationSelected = true
    }

    /// Selects an application by name; without Le if the card refuses the length, as old cards do.
    private func select(application name: [UInt8]) async throws(TagError) -> StatusWord {
        let status = try await send(.select(application: name)).status
        guard status.rawValue == 0x6700 else { return status }
        return try await send(.select(application: name, expectsTemplate: false)).status
    }

    /// Selects a file, unless it is already selected; false when the card lacks the file.
    private func select(file: UInt16) async throws(TagError) -> Bool {
        try await selectApplication()
        guard selectedFile != file else { return true }
        selectedFile = nil
        var status = try await send(.select(file: file, parameter2: fileSelectParameter)).status
        if status.rawValue == 0x6A86, fileSelectParameter != 0 {
            fileSelectParameter = 0
            status = try await send(.select(file: file, parameter2: 0)).status
        }
        guard status.isSuccessOrWarning else { return false }
        selectedFile = file
        return true
    }

    private func selectMessageFile(_ container: Type4CapabilityContainer) async throws(TagError) {
        guard try await select(file: container.messageFile) else {
            let reason = "The NDEF file that the capability container names is missing (NFC Forum T4T 1.2, 5.5)."
            throw TagError(.noMessageTLV, reason)
        }
    }

    private func readCapabilityContainer() async throws(TagError) -> Type4CapabilityContainer {
        if let lost { throw lost }
        if let capabilityContainer { return capabilityContainer }
        guard try await select(file: Type4CapabilityContainer.file) else {
            // A DESFire accepts the older name, of mapping version 1.0, as the name of the card itself.
            let isOld = fileSelectParameter == 0
            let name = isOld ? "The card has no NDEF Tag Application: its older name" : "The NDEF application"
            let reason = "\(name) has no capability container file E103 (NFC Forum T4T 1.2, 5.5)."
            throw TagError(.noCapabilityContainer, reason)
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

    /// Reads NLEN with the start of the message. For writing, an invalid length is accepted.
    private func readMessageLength(
        _ container: Type4CapabilityContainer,
        isForWriting: Bool = false
    ) async throws(TagError) -> Int {
        if let messageLength { return messageLength }
        guard container.readAccess == 0 else {
            let reason = "The capability container does not grant free reading (NFC Forum T4T 1.2, 4.3)."
            throw TagError(.readProtected, reason)
        }
        try await selectMessageFile(container)
        let wanted = min(
            container.lengthSize + Self.firstReadLength,
            container.fileSize,
            readLimit(container, offset: 0)
        )
        let bytes = try await readMessageStart(wanted, lengthSize: container.lengthSize)
        guard bytes.count >= container.lengthSize else {
            throw TagError(.lengthOverrun, "The NDEF file ends before its length field (NFC Forum T4T 1.2, 4.2).")
        }
        let length = Int(bytes: bytes[..<container.lengthSize])
        if isForWriting, length > min(container.capacity, Self.maximumMessageLength) { return length }
        guard length <= container.capacity else {
            let capacity = container.capacity
            let reason = "NLEN is \(length), but the file only has room for \(capacity) (NFC Forum T4T 1.2, 6.2)."
            throw TagError(.lengthOverrun, reason)
        }
        guard length <= Self.maximumMessageLength else {
            let reason = "The message has \(length) bytes; the maximum is \(Self.maximumMessageLength)."
            throw TagError(.unsupported, reason)
        }
        messageLength = length
        messageStart = Array(bytes[container.lengthSize...].prefix(length))
        return length
    }

    /// Reads the start of the NDEF file, or only its length field if the card refuses more. Cards emulated by a phone
    /// often refuse to read past the end of the message.
    private func readMessageStart(_ wanted: Int, lengthSize: Int) async throws(TagError) -> [UInt8] {
        do throws(TagError) {
            return try await readBinary(offset: 0, count: wanted)
        } catch {
            guard error.code == .refused, wanted > lengthSize else { throw error }
            return try await readBinary(offset: 0, count: lengthSize)
        }
    }

    /// Returns the maximum number of bytes that one READ BINARY requests: at most MLe, and at most what fits in one
    /// block.
    func readLimit(_ container: Type4CapabilityContainer, offset: Int) -> Int {
        // A short Le allows up to 256 bytes, but its code for 256, 00, fails on some cards.
        let limit = min(container.maximumRead, link.singleBlockResponseLength - 2, 255)
        guard offset > CommandAPDU.maximumShortOffset else {
            // A read must not cross the offset from which the other READ BINARY is needed.
            return max(1, min(limit, CommandAPDU.maximumShortOffset + 1 - offset))
        }
        return max(1, limit - CommandAPDU.discretionaryOverhead(limit))
    }

    /// Reads with READ BINARY, with either kind of offset. Returns at most `count` bytes.
    func readBinary(offset: Int, count: Int) async throws(TagError) -> [UInt8] {
        guard offset <= CommandAPDU.maximumOffset else {
            throw TagError(.unsupported, "Offset \(offset) does not fit in an offset data object.")
        }
        let response = try await send(.readBinary(offset: offset, count: count))
        guard response.status == .success || response.status == .endOfFile else {
            let reason = "READ BINARY of \(count) bytes at \(offset) gave \(response.status) (NFC Forum T4T 1.2, 5.3)."
            throw TagError(.refused, reason)
        }
        let isLong = offset > CommandAPDU.maximumShortOffset
        guard let data = isLong ? CommandAPDU.discretionaryData(response.data) : response.data else {
            throw TagError(
                .badAnswer,
                "The answer to READ BINARY with an offset data object has no data object 53 (ISO/IEC 7816-4, 11.3.3)."
            )
        }
        guard data.count <= count else {
            let reason = "READ BINARY returned \(data.count) bytes, more than the \(count) of Le (ISO/IEC 7816-4, 5.1)."
            throw TagError(.badAnswer, reason)
        }
        return data
    }

    /// Reads the capability container and the whole NDEF file, also what follows the message.
    ///
    /// - Returns: the files by identifier. A file ends where the card refuses to read on.
    /// - Throws: the errors of ``detectNDEF()``.
    package func readFiles() async throws(TagError) -> [UInt16: [UInt8]] {
        let container = try await readCapabilityContainer()
        var files: [UInt16: [UInt8]] = [:]
        let sizes = [(Type4CapabilityContainer.file, container.lengthSize == 4 ? 17 : 15)]
        for (file, size) in sizes + [(container.messageFile, container.fileSize)] where try await select(file: file) {
            var content: [UInt8] = []
            while content.count < size {
                let wanted = min(size - content.count, readLimit(container, offset: content.count))
                do throws(TagError) {
                    let bytes = try await readBinary(offset: content.count, count: wanted)
                    content += bytes
                    if bytes.isEmpty { break }
                } catch {
                    guard error.code == .refused else { throw error }
                    break
                }
            }
            files[file] = content
        }
        return files
    }

    // MARK: Writing

    /// Returns the maximum number of bytes that one UPDATE BINARY writes: at most MLc and 255, filling whole blocks if
    /// possible.
    func writeLimit(_ container: Type4CapabilityContainer, offset: Int) -> Int {
        let most = min(container.maximumWrite, 255)
        guard offset <= CommandAPDU.maximumShortOffset else {
            return max(1, most - CommandAPDU.offsetDataObject(offset).count - CommandAPDU.discretionaryOverhead(most))
        }
        // An extra block for the last few bytes takes more time than sending them with the next command.
        let header = 5
        let block = link.singleBlockCommandLength
        let blocks = (header + most) / block
        let whole = blocks > 0 ? blocks * block - header : most
        return min(whole, CommandAPDU.maximumShortOffset + 1 - offset)
    }

    /// Writes with UPDATE BINARY, with either kind of offset.
    private func updateBinary(offset: Int, _ bytes: [UInt8]) async throws(TagError) {
        let status: StatusWord
        do throws(TagError) {
            status = try await send(.updateBinary(offset: offset, data: bytes)).status
        } catch {
            throw error.ofWrite
        }
        guard status != .securityStatusNotSatisfied else {
            throw TagError(
                .keyNeeded,
                "A key is needed to write the file: UPDATE BINARY of \(bytes.count) bytes at \(offset) gave \(status)."
            )
        }
        guard status == .success else {
            let reason = "UPDATE BINARY of \(bytes.count) bytes at \(offset) gave \(status) (NFC Forum T4T 1.2, 5.4)."
            throw TagError(.updateFailed, reason)
        }
    }

    /// Sends a native DESFire command in an APDU (MF3ICD81 data sheet, 8.3).
    private func sendNative(_ command: UInt8, _ data: [UInt8], mayExist: Bool = false) async throws(TagError) {
        let status = try await send(CommandAPDU(0x90, command, 0x00, 0x00, data: data, expectedLength: 256)).status
        // 91DE means that the application or file already exists.
        guard status.rawValue == 0x9100 || mayExist && status.rawValue == 0x91DE else {
            throw TagError(
                .updateFailed,
                "The card refused DESFire command \(command.hexText(digits: 2)) with \(status) (MF3ICD81 data sheet, 8.3)."
            )
        }
    }

    /// Sends a command, and stores the error if the card was lost.
    private func send(_ command: CommandAPDU) async throws(TagError) -> ResponseAPDU {
        if let lost { throw lost }
        do throws(TagError) {
            return try await link.send(command)
        } catch {
            throw error.remembered(in: &lost)
        }
    }
}

/// The UPDATE BINARY commands for a message. In this order, the card may be lost after any of them.
///
/// If length field and message fit in one command, a single command writes both. Otherwise the first command writes a
/// length of 0 and the start of the message, the next ones write the rest, and the last one writes the length. After
/// the first command the tag is empty, and after the last it has the message (NFC Forum T4T 1.2, 6.4).
///
/// If MLc is smaller than the length field, writing the length takes several commands. A tag that is lost between them
/// has a wrong length, which is not the old one, 0, or the new one. This risk exists between any two of these commands.
struct Type4WritePlan: Equatable {
    struct Step: Equatable {
        var offset: Int
        var bytes: [UInt8]
    }

    let steps: [Step]

    /// Computes the plan for a message that fits. `limit` returns the maximum number of data bytes of a
    /// command at an offset.
    init(_ message: [UInt8], lengthSize: Int, oldLength: Int, limit: (Int) -> Int) {
        let length = [UInt8](bigEndian: message.count, count: lengthSize)
        if lengthSize + message.count <= limit(0) {
            steps = [Step(offset: 0, bytes: length + message)]
            return
        }
        var steps: [Step] = []
        if limit(0) < lengthSize {
            // Clears and sets the length byte by byte, the most significant byte last, skipping zeros.
            let old = [UInt8](bigEndian: oldLength, count: lengthSize)
            for index in old.indices.reversed() where old[index] != 0 { steps.append(Step(offset: index, bytes: [0])) }
            steps += Self.pieces(message, at: lengthSize, limit: limit)
            for index in length.indices.reversed() where length[index] != 0 {
                steps.append(Step(offset: index, bytes: [length[index]]))
            }
        } else {
            steps = Self.pieces([UInt8](repeating: 0, count: lengthSize) + message, at: 0, limit: limit)
            if !message.isEmpty { steps.append(Step(offset: 0, bytes: length)) }
        }
        self.steps = steps
    }

    private static func pieces(_ bytes: [UInt8], at start: Int, limit: (Int) -> Int) -> [Step] {
        var steps: [Step] = []
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, position + max(1, limit(start + position)))
            steps.append(Step(offset: start + position, bytes: Array(bytes[position..<end])))
            position = end
        }
        return steps
    }
}

/// The capability container file of a Type 4 tag (NFC Forum T4T 1.2, 4.3).
package struct Type4CapabilityContainer: Sendable, Hashable {
    static let file: UInt16 = 0xE103
    /// The number of bytes up to the end of an NDEF file control TLV of mapping versions 1 and 2.
    static let minimumLength = 15
    /// The number of bytes up to the end of an extended control TLV of mapping version 3.
    static let extendedLength = 17

    /// The mapping version: 0x20 is 2.0.
    var version: UInt8
    /// MLe: the maximum number of bytes that one READ BINARY returns.
    var maximumRead: Int
    /// MLc: the maximum number of data bytes that one UPDATE BINARY accepts.
    var maximumWrite: Int
    /// The NDEF file's identifier.
    package var messageFile: UInt16
    /// The NDEF file's size, including its length field.
    package var fileSize: Int
    /// The read access byte: 00 is unrestricted.
    package var readAccess: UInt8
    /// The write access byte: 00 is unrestricted, FF is no access.
    package var writeAccess: UInt8
    /// The size of the NDEF file's length field: 2 (NLEN), or 4 (ENLEN) with an extended control TLV.
    var lengthSize: Int

    /// The longest message that fits.
    var capacity: Int { max(0, fileSize - lengthSize) }
    /// The offset of the write access byte in this file.
    var writeAccessOffset: Int { lengthSize == 4 ? 16 : 14 }

    /// Returns how many bytes of the file must be read, judging by its first bytes.
    static func wantedLength(_ bytes: [UInt8]) -> Int {
        bytes.count > 7 && bytes[7] == 0x06 ? extendedLength : minimumLength
    }

    /// Reads the first ``minimumLength`` bytes of the file, or more. Further control TLVs are ignored.
    init(_ bytes: [UInt8]) throws(TagError) {
        guard bytes.count >= 3 else {
            throw TagError(.noCapabilityContainer, "The capability container file is empty (NFC Forum T4T 1.2, 4.3).")
        }
        guard (1...3).contains(bytes[2] >> 4) else {
            throw .badVersion(bytes[2] >> 4, bytes[2] & 0x0F, known: "1, 2 and 3 are", "T4T 1.2, 4.3")
        }
        let length = Int(bytes: bytes[0..<2])
        guard length >= Self.minimumLength, bytes.count >= Self.minimumLength else {
            let reason = "The capability container has fewer than 15 bytes (NFC Forum T4T 1.2, 4.3)."
            throw TagError(.noCapabilityContainer, reason)
        }
        version = bytes[2]
        maximumRead = Int(bytes: bytes[3..<5])
        maximumWrite = Int(bytes: bytes[5..<7])
        guard maximumRead >= 15, maximumWrite >= 1 else {
            let reason = "MLe \(maximumRead) or MLc \(maximumWrite) is less than 15 or 1 (NFC Forum T4T 1.2, 4.3)."
            throw TagError(.noCapabilityContainer, reason)
        }
        let isExtended = bytes[7] == 0x06 && bytes[8] == 0x08 && bytes.count >= Self.extendedLength
        guard isExtended || bytes[7] == 0x04 && bytes[8] == 0x06 else {
            throw TagError(
                .noMessageTLV,
                "The capability container does not begin with an NDEF file control TLV (NFC Forum T4T 1.2, 4.3)."
            )
        }
        let sizeEnd = isExtended ? 15 : 13
        messageFile = UInt16(high: bytes[9], low: bytes[10])
        fileSize = Int(bytes: bytes[11..<sizeEnd])
        readAccess = bytes[sizeEnd]
        writeAccess = bytes[sizeEnd + 1]
        lengthSize = isExtended ? 4 : 2
        guard ![0x0000, 0xE102, 0xE103, 0x3F00, 0x3FFF, 0xFFFF].contains(messageFile), fileSize >= lengthSize else {
            throw TagError(
                .noMessageTLV,
                "The NDEF file control TLV has a reserved file identifier or no room for a message (NFC Forum T4T 1.2, 4.3)."
            )
        }
    }
}
