// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// A Type 1 tag's answer to RID (NFC Forum T1T 1.2, 5.3).
public struct Type1Target: Sendable, Hashable {
    /// HR0: 1x for NDEF. 11 means 96 bytes of static memory; 12 and others mean dynamic memory.
    public var headerROM0: UInt8
    /// HR1: 48 on Topaz 96, 4C on Topaz 512.
    public var headerROM1: UInt8
    /// The first four bytes of the UID. Every command contains them.
    public var uid: [UInt8]

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - headerROM0: HR0.
    ///   - headerROM1: HR1.
    ///   - uid: four bytes.
    public init(headerROM0: UInt8, headerROM1: UInt8, uid: [UInt8]) {
        precondition(uid.count == 4, "RID gives four bytes of UID")
        self.headerROM0 = headerROM0
        self.headerROM1 = headerROM1
        self.uid = uid
    }

    /// Whether the tag is made for NDEF.
    public var hasNDEF: Bool { headerROM0 >> 4 == 1 }
    /// Whether the tag has 120 bytes, written one byte at a time. Otherwise it has more, written in blocks of eight.
    public var isStatic: Bool { headerROM0 & 0x0F == 1 }

    /// Identifies the Type 1 tag in the field with RID. Call it after REQA or WUPA.
    ///
    /// - Parameter link: the NFC-A link that its ATQA was received over.
    /// - Returns: the tag's answer.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `readerUnavailable`, `unsupported`, `cancelled`.
    public static func identify(link: any FrameLink) async throws(TagError) -> Type1Target {
        var failure = TagError(.tagLost, "The tag does not answer RID.")
        for _ in 0...Type1Tag.retries {
            let bytes: [UInt8]
            do throws(LinkError) {
                let request = Frame([0x78, 0, 0, 0, 0, 0, 0], checksum: .crcB)
                bytes = try await link.transceive(request, timeout: Type1Tag.answerTimeout).bytes
            } catch {
                if let fatal = TagError(fatal: error) { throw fatal }
                failure = TagError(link: error, over: .nfcA)
                continue
            }
            guard bytes.count == 6 else {
                throw TagError(
                    .badAnswer,
                    "RID brought \(bytes.count) bytes, not 6 (NFC Forum T1T 1.2, 5.3)."
                )
            }
            return Type1Target(headerROM0: bytes[0], headerROM1: bytes[1], uid: Array(bytes[2...]))
        }
        throw failure
    }
}
