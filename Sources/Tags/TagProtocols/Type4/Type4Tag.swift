// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 4 tag from the reader's side: the NDEF application on any card with ISO-DEP, such as NTAG 424 DNA, DESFire
/// EV1 to EV3, ST25TA and Java Cards (NFC Forum T4T 1.2, and mapping version 3).
///
/// NLEN is read together with the start of the message, and no response is longer than one block. So a message takes as
/// few commands as the card allows.
///
/// ```swift
/// let tag = Type4Tag(link: ISODEP(link: link))
/// let message = try await tag.readNDEF()
/// ```
public final class Type4Tag: ForumTag {
    /// The tag's type: always Type 4.
    public var type: ForumTagType { .type4 }

    /// The link to the card.
    public let link: any APDULink

    /// The mapping version in the capability container, such as 0x20; nil before detection.
    public var mappingVersion: UInt8? { capabilityContainer?.version }

    /// The capability container, once it was read and checked.
    var capabilityContainer: Type4CapabilityContainer?
    /// Whether the NDEF application is selected.
    var isApplicationSelected = false
    /// P2 of SELECT by file identifier: 0C, or 00 with mapping version 1.0.
    var fileSelectParameter: UInt8 = 0x0C
    /// The selected file.
    var selectedFile: UInt16?
    /// The length of the current message, if known.
    var messageLength: Int?
    /// The start of the message, as far as it was read.
    var messageStart: [UInt8] = []
    /// The error that every procedure throws once the card is lost.
    var lost: TagError?

    /// The NDEF Tag Application of mapping versions 2 and 3.
    public static let applicationName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
    /// The NDEF Tag Application of mapping version 1.
    public static let applicationName1: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00]

    /// The number of message bytes that the first READ BINARY of the NDEF file requests besides the length field.
    ///
    /// The length of the message is only known after this read. Requesting the length alone takes one more exchange,
    /// 1.3 ms, for every message. Each byte too many takes 0.085 ms on a short message. With any number, either an
    /// empty tag or a message just longer than this takes at least 1.12 times as long as with a known length. 20 bytes
    /// include a whole short link. The factor is then 1.19 for an empty tag, 1.12 for messages of 21 bytes, and at most
    /// 1.10 from 48 bytes on.
    static let firstReadLength = 20

    /// The longest message that is read or written. It limits the memory that a card can make the reader use.
    public static let maximumMessageLength = 1 << 20

    /// Creates a tag.
    ///
    /// - Parameter link: the link to the card. Any application may be selected.
    public init(link: any APDULink) {
        self.link = link
    }

    /// Starts ISO-DEP, unless it was started before.
    public func prepare() async throws(TagError) {
        guard let card = link as? ISODEP else { return }
        do throws(LinkError) {
            try await card.activate()
        } catch {
            throw remember(TagError(link: error))
        }
    }

    /// Notifies the tag that the card was activated again: nothing is selected, and ISO-DEP starts again.
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

    /// Notifies the tag that other code has sent commands to the card, and may have selected another application.
    public func selectionWasChanged() {
        isApplicationSelected = false
        selectedFile = nil
    }

    /// Returns whether the card still answers, without a command to its applications.
    public func isPresent() async -> Bool {
        guard lost == nil else { return false }
        return await link.isPresent()
    }

    /// Sends a command, and records when the card is lost.
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

    /// Selects a file, unless it is selected already.
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
    /// The NDEF file that the capability container describes.
    package struct MessageFile: Sendable, Hashable {
        /// The file identifier, such as E104.
        package var identifier: UInt16
        /// The file's size in bytes, including the length field.
        package var size: Int
        /// 00 when reading is unrestricted.
        package var readAccess: UInt8
        /// 00 when writing is unrestricted, FF when it is not allowed.
        package var writeAccess: UInt8
    }

    /// The NDEF file; nil before the capability container was read, and when it is invalid.
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
