// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 4 tag from the reader's side: the NDEF application on any card that speaks ISO-DEP, such as NTAG 424 DNA,
/// DESFire EV1 to EV3, ST25TA and Java Cards (NFC Forum T4T 1.2, and mapping version 3).
///
/// NLEN is read together with the start of the message, and no response is longer than one block, so that a message
/// takes as few commands as the card allows.
///
/// ```swift
/// let tag = Type4Tag(link: ISODEP(link: link))
/// let message = try await tag.readNDEF()
/// ```
public final class Type4Tag: ForumTag {
    /// The tag's platform: always Type 4.
    public var type: ForumTagType { .type4 }

    /// The card.
    public let link: any APDULink

    /// The mapping version that the capability container gives, such as 0x20; nil before detection.
    public var mappingVersion: UInt8? { capabilityContainer?.version }

    /// The capability container, when it has been read and is good.
    var capabilityContainer: Type4CapabilityContainer?
    /// Whether the NDEF application is selected.
    var isApplicationSelected = false
    /// P2 of SELECT by file identifier: 0C, or 00 on mapping 1.0.
    var fileSelectParameter: UInt8 = 0x0C
    /// The file that is selected.
    var selectedFile: UInt16?
    /// The length of the present message, when it is known.
    var messageLength: Int?
    /// What has been read of the message from its start.
    var messageStart: [UInt8] = []
    /// The error that every procedure ends with once the card is lost.
    var lost: TagError?

    /// The NDEF Tag Application of mapping versions 2 and 3.
    public static let applicationName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
    /// The NDEF Tag Application of mapping version 1.
    public static let applicationName1: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]

    /// How many bytes of a message the first READ BINARY of the NDEF file asks for beside the length field.
    ///
    /// How long the message is shows only when it is there. Asking for the length alone costs an exchange, 1.3 ms, on
    /// every message; each byte too many costs 0.085 ms on a short one. Whatever the number is, either an empty tag or a
    /// message just above it takes at least 1.12 times what a reader takes that knows the length. 20 bytes bring a short
    /// link whole and leave 1.19 to an empty tag, 1.12 to messages of 21 bytes, and 1.10 or less from 48 on.
    static let firstReadLength = 20

    /// The longest message that is read or written: the memory that a card can make the reader use.
    public static let maximumMessageLength = 1 << 20

    /// Takes over a card.
    ///
    /// - Parameter link: the card, with any application selected.
    public init(link: any APDULink) {
        self.link = link
    }

    /// Begins ISO-DEP, unless it has begun.
    public func prepare() async throws(TagError) {
        guard let card = link as? ISODEP else { return }
        do throws(LinkError) {
            try await card.activate()
        } catch {
            throw remember(TagError(link: error))
        }
    }

    /// Takes it that nothing is selected on the card, and that ISO-DEP has to begin anew.
    public func wasActivated() {
        link.wasActivated()
        selectionWasChanged()
        if lost?.code != .readerUnavailable { lost = nil }
    }

    public func forgetMemory() {
        capabilityContainer = nil
        messageLength = nil
        messageStart = []
        selectionWasChanged()
    }

    /// Tells the procedures that someone else has sent commands to the card, and may have selected another application.
    public func selectionWasChanged() {
        isApplicationSelected = false
        selectedFile = nil
    }

    /// Says whether the card still answers, without a command to its applications.
    public func isPresent() async -> Bool {
        guard lost == nil else { return false }
        return await link.isPresent()
    }

    /// Sends a command; remembers when the card is lost.
    func send(_ command: CommandAPDU) async throws(TagError) -> ResponseAPDU {
        if let lost { throw lost }
        do throws(TagError) {
            return try await link.send(command)
        } catch {
            throw remember(error)
        }
    }

    private func remember(_ error: TagError) -> TagError {
        if error.code == .tagLost { lost = error }
        return error
    }

    /// Selects a file, unless it is selected.
    ///
    /// - Returns: false when the card has no such file.
    func select(file: UInt16) async throws(TagError) -> Bool {
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
}

extension Type4Tag {
    /// The file that the capability container names for the message.
    package struct MessageFile: Sendable, Hashable {
        /// Its identifier, such as E104.
        package var identifier: UInt16
        /// Its bytes, those of the length field included.
        package var size: Int
        /// 00 where reading is free.
        package var readAccess: UInt8
        /// 00 where writing is free, FF where there is none.
        package var writeAccess: UInt8
    }

    /// The file that the capability container names; nil before that was read, and where it is none.
    package var messageFile: MessageFile? {
        capabilityContainer.map {
            MessageFile(
                identifier: $0.messageFile,
                size: $0.fileSize,
                readAccess: $0.readAccess,
                writeAccess: $0.writeAccess
            )
        }
    }
}
