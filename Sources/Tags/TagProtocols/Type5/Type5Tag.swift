// SPDX-License-Identifier: Apache-2.0
public import TagLink
import TagProducts

/// A Type 5 tag from the reader's side: ICODE SLIX, ST25TV, ST25DV and similar (NFC Forum T5T 1.0).
///
/// A tag that is alone in the field is addressed without its UID, which saves eight bytes, 2.4 ms, in every command. A
/// failed exchange is repeated with the UID, and the first write of a message has it too. So another tag in its place is never
/// written.
///
/// ```swift
/// let targets = try await NFCVInventory(link: link).findAll()
/// if let target = targets.first {
///     let tag = Type5Tag(target: target, link: link, isAlone: targets.count == 1)
///     let message = try await tag.readNDEF()
/// }
/// ```
public final class Type5Tag: ForumTag {
    /// The tag's type: always Type 5.
    public var type: ForumTagType { .type5 }

    /// The tag as the inventory found it.
    public let target: NFCVTarget

    /// The link that it was found over.
    public let link: any FrameLink

    /// Whether no other tag is in the field.
    public let isAlone: Bool

    /// The number of bytes in a block; 0 until the first answer.
    public internal(set) var blockSize = 0

    /// The memory that was read.
    var memory = TLVMemory(unitSize: 4, limit: 0)
    /// The capability container, once it was read and checked.
    var capabilityContainer: Type5CapabilityContainer?
    /// The end of the data area. It may differ from the container when that is wrong.
    var areaEnd = 0
    /// The position of the message, once it was found.
    var layout: TLVLayout?
    /// Whether READ MULTIPLE BLOCKS works with this tag.
    var readsMultiple = true
    /// Whether writes have the option flag, and are answered after an EOF.
    var writesWithOption: Bool
    /// Whether ``lock()`` began and has not ended. The next one goes on, also where the container says read-only by now.
    var isLocking = false
    /// Whether the next command must have the UID.
    var needsAddress = false
    /// The error that every procedure throws once the tag is lost.
    var lost: TagError?

    /// Creates a tag.
    ///
    /// - Parameters:
    ///   - target: the tag as the inventory found it.
    ///   - link: the NFC-V link that it was found over.
    ///   - isAlone: whether the inventory found no other tag.
    public init(target: NFCVTarget, link: any FrameLink, isAlone: Bool) {
        self.target = target
        self.link = link
        self.isAlone = isAlone
        // Texas Instruments' tags only accept writes with the option flag.
        self.writesWithOption = target.manufacturer == 0x07
    }

    /// Marks the tag as answering again. The cached memory stays valid.
    public func wasActivated() {
        lost = nil
    }

    public func forgetMemory() {
        blockSize = 0
        memory = TLVMemory(unitSize: 4, limit: 0)
        capabilityContainer = nil
        isLocking = false
        areaEnd = 0
        layout = nil
    }

    /// Returns whether the tag still answers READ SINGLE BLOCK with its UID.
    ///
    /// - Returns: false when the tag is gone or another tag is in its place.
    public func isPresent() async -> Bool {
        guard lost == nil else { return false }
        needsAddress = true
        do throws(TagError) {
            if case .silent = try await exchange(.readSingleBlock, [0]) { return false }
            return true
        } catch {
            return error.code == .badAnswer
        }
    }
}

/// Data of a tag besides its message.
extension Type5Tag {
    /// Sends GET SYSTEM INFORMATION, and the extended command to a tag that only reports its size there. Nil when the
    /// tag does not answer, or its reader can't send them.
    package func readSystemInfo() async throws(TagError) -> ISO15693SystemInfo? {
        let told = try await systemInformation(.getSystemInformation, []).flatMap { try? ISO15693SystemInfo($0) }
        if told?.blockCount != nil { return told }
        // DSFID, AFI, memory and IC reference.
        let extended = try await systemInformation(.extendedGetSystemInformation, [0x0F])
            .flatMap { try? ISO15693SystemInfo($0, isExtended: true) }
        return extended ?? told
    }

    /// Returns the locked blocks, by GET MULTIPLE BLOCK SECURITY STATUS; nil when the tag or its reader does not
    /// support the command.
    ///
    /// - Parameter count: the number of blocks.
    package func readLockedBlocks(of count: Int) async throws(TagError) -> [Int]? {
        try await readSecurityStatus(of: 0..<count).map { status in status.indices.filter { status[$0] & 0x01 != 0 } }
    }

    /// Returns the blocks of a range that nobody can write any more; nil when the tag or its reader does not tell.
    ///
    /// M24LR has further bits beside the lock bit: a password opens the block, or it is open all the same (M24LR64-R data
    /// sheet, sector security status). On other tags they are 0.
    func readPermanentlyLockedBlocks(in blocks: Range<Int>) async throws(TagError) -> [Int]? {
        try await readSecurityStatus(of: blocks).map { status in
            blocks.filter { status[$0 - blocks.lowerBound] == 0x01 }
        }
    }

    /// Sends GET MULTIPLE BLOCK SECURITY STATUS; nil when the tag or its reader does not support it.
    private func readSecurityStatus(of blocks: Range<Int>) async throws(TagError) -> [UInt8]? {
        var status: [UInt8] = []
        var first = blocks.lowerBound
        while first < blocks.upperBound {
            let place = address(first)
            // A command does not cross the address where the commands change.
            let end = place.isLong ? blocks.upperBound : min(256, blocks.upperBound)
            let size = min(Self.maximumBlocksPerRead, end - first)
            let bytes =
                place.isLong
                ? try await systemInformation(
                    .extendedGetMultipleBlockSecurityStatus,
                    place.bytes + [UInt8(size - 1), 0]
                )
                : try await systemInformation(.getMultipleBlockSecurityStatus, place.bytes + [UInt8(size - 1)])
            guard let bytes, bytes.count == size else { return nil }
            status += bytes
            first += size
        }
        return status
    }

    /// The bytes of the capability container; nil before it was read, and when it is invalid.
    package var capabilityContainerBytes: [UInt8]? { capabilityContainer?.bytes }

    /// Reads the 32 bytes of NXP's READ SIGNATURE; nil when the tag has no signature, or its reader can't send the
    /// command.
    package func readSignature() async throws(TagError) -> [UInt8]? {
        guard target.family?.hasSignature == true,
            let bytes = try await systemInformation(Self.readSignatureCommand, [target.manufacturer])
        else { return nil }
        return bytes.count == 32 && bytes.contains { $0 != 0 } ? bytes : nil
    }

    /// Reads the counter of an ICODE SLIX2; nil for other tags.
    package func readCounter() async throws(TagError) -> UInt16? {
        guard let block = target.family?.counterBlock,
            let bytes = try await systemInformation(.readSingleBlock, [block]), bytes.count == 4
        else { return nil }
        return UInt16(high: bytes[1], low: bytes[0])
    }

    /// NXP's own READ SIGNATURE command (SL2S2602 data sheet).
    private static let readSignatureCommand = ISO15693Command(rawValue: 0xBD)
}
