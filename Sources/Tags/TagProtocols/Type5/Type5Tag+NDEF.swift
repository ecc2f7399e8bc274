// SPDX-License-Identifier: Apache-2.0
import TagProducts

extension Type5Tag {
    /// Runs the NDEF detection procedure (NFC Forum T5T 1.0, 6.2).
    ///
    /// The first read returns the capability container and the start of the data area. Some tools write the size of the
    /// whole memory into the container. When the size looks like that, the tag is asked for its memory size, and the
    /// area ends with the memory.
    ///
    /// - Returns: the result. A second call makes no exchange.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`, `lengthOverrun`,
    ///   `readProtected` when reading is restricted, `tagLost`, `badAnswer`, `cancelled`.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let layout = try await locate()
        return layout.detection(isWritable: capabilityContainer?.isWritable == true)
    }

    /// Reads the NDEF message (NFC Forum T5T 1.0, 6.3).
    ///
    /// - Returns: the message's bytes; empty when the tag is empty. Blocks that were read are not read again.
    /// - Throws: the errors of ``detectNDEF()``.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let addresses = try await locate().messageAddresses
        guard let first = addresses.first, let last = addresses.last else { return [] }
        try await fetch(first..<last + 1)
        return addresses.map { memory[byte: $0] ?? 0 }
    }

    /// Writes an NDEF message. A tag that is lost between two blocks holds the old message, no message, or the new one
    /// (NFC Forum T5T 1.0, 6.4).
    ///
    /// A tag that reports which blocks are locked is asked before the first of several writes.
    ///
    /// - Parameter message: the message's bytes; none to empty the tag.
    /// - Throws: ``TagError`` with `readOnly` and `messageTooLong` before anything is written, `updateFailed` when the
    ///   tag refused, for example because a block needs a password, `tagLost`, and the errors of ``detectNDEF()``.
    public func writeNDEF(_ message: [UInt8]) async throws(TagError) {
        let layout = try await locate(isForWriting: true)
        guard let container = capabilityContainer, container.isWritable else {
            throw TagError(.readOnly, "The capability container does not grant writing (NFC Forum T5T 1.0, 4.3.2).")
        }
        try layout.checkCapacity(for: message)
        let plan = TLVWritePlan(message, layout: layout, unitSize: blockSize)
        for unit in plan.unitsToPreserve { try await fetch(unit * blockSize..<(unit + 1) * blockSize) }
        let steps = plan.steps(memory)
        try await checkLocks(steps.map(\.unit))
        needsAddress = true
        for step in steps { try await write(step.bytes, to: step.unit) }
        self.layout = layout.holding(message)
    }

    /// Checks that no block of a write is locked, as far as the tag reports it. One write alone is not checked: when
    /// the tag refuses it, nothing has changed.
    private func checkLocks(_ blocks: [Int]) async throws(TagError) {
        guard let first = blocks.min(), let last = blocks.max(), first < last else { return }
        // With its UID, a tag that does not know the command says so at once.
        needsAddress = true
        guard let locked = try await readPermanentlyLockedBlocks(in: first..<last + 1),
            let block = locked.first(where: { blocks.contains($0) })
        else { return }
        throw TagError(.readOnly, "Block \(block) of the tag is locked (NFC Forum T5T 1.0, 5.7).")
    }

    /// Makes the tag permanently read-only: write access 11 in the capability container, then LOCK BLOCK on every block
    /// of the container and of the data area (NFC Forum T5T 1.0, 6.5). A tag such as ST25DV can lock no more than its first
    /// blocks: the rest then stays open to programs that ignore the container.
    ///
    /// - Throws: ``TagError`` with `readOnly` when it is read-only already, `updateFailed`, `tagLost`, and the errors
    ///   of ``detectNDEF()``.
    public func lock() async throws(TagError) {
        let layout = try await locate()
        guard let container = capabilityContainer, container.isWritable || isLocking else {
            throw TagError(.readOnly, "The tag is read-only already.")
        }
        try await fetch(0..<blockSize)
        guard var first = memory.unit(0) else { return }
        needsAddress = true
        isLocking = true
        first[1] = container.readOnly.bytes[1]
        try await write(first, to: 0)
        capabilityContainer = container.readOnly
        // The container is locked first, so its write access can't be changed back. ST25DV and similar tags can only
        // lock the blocks 0 and 1.
        let containerBlocks = (container.bytes.count + blockSize - 1) / blockSize
        for block in 0..<containerBlocks { try await lock(block: block) }
        for block in containerBlocks..<max(containerBlocks, (areaEnd + blockSize - 1) / blockSize) {
            do throws(TagError) {
                try await lock(block: block)
            } catch {
                guard error.code == .updateFailed, block <= max(2, containerBlocks) else { throw error }
                break
            }
        }
        self.layout = layout
        isLocking = false
    }

    /// Checks that the capability container is not locked while it grants writing, as far as the tag reports it.
    ///
    /// - Throws: ``TagError`` with `readOnly` when the tag is read-only already, `unsupported` when its container can't be
    ///   changed any more, `tagLost`, `cancelled`, and the errors of ``detectNDEF()``, except the one for a broken length.
    public func checkLocking() async throws(TagError) {
        // Later procedures start as if nothing was read, and take the same time.
        defer { forgetMemory() }
        _ = try await locate(isForWriting: true)
        guard let container = capabilityContainer, container.isWritable else {
            throw TagError(.readOnly, "The tag is read-only already.")
        }
        needsAddress = true
        guard let locked = try await readPermanentlyLockedBlocks(in: 0..<1), !locked.isEmpty else { return }
        throw TagError(
            .unsupported,
            "The capability container is locked and grants writing, which can't be taken back (NFC Forum T5T 1.0, 5.7)."
        )
    }

    /// Formats a blank tag as an empty NDEF tag: a capability container for the size of its memory, and an empty
    /// message.
    ///
    /// - Throws: ``TagError`` with `readOnly` when a container forbids writing, `unsupported` when the tag does not
    ///   report its memory size, `updateFailed`, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        try await fetchFirstBlock()
        if let present = try? readContainerFromMemory(), !present.isWritable {
            throw TagError(.readOnly, "The capability container does not grant writing (NFC Forum T5T 1.0, 4.3.2).")
        }
        guard let size = try await readMemorySize(),
            let container = Type5CapabilityContainer(
                forMemoryOf: size,
                hasLongAddresses: size / blockSize > 256
            )
        else {
            throw TagError(.unsupported, "The tag does not report the size of its memory (ISO/IEC 15693-3, 10.4.12).")
        }
        needsAddress = true
        var bytes = container.bytes + [0x03, 0x00, 0xFE]
        while bytes.count % blockSize != 0 { bytes.append(0) }
        capabilityContainer = nil
        // The first block is written last. Without it the tag is not an NDEF tag, so nothing can be misread.
        for block in (0..<bytes.count / blockSize).reversed() {
            try await write(Array(bytes[block * blockSize..<(block + 1) * blockSize]), to: block)
        }
        layout = nil
    }

    /// Finds the NDEF message TLV.
    ///
    /// - Parameter isForWriting: whether an NDEF message TLV with a broken length is found too, so that it can be
    ///   written.
    func locate(isForWriting: Bool = false) async throws(TagError) -> TLVLayout {
        if let lost { throw lost }
        if let layout { return layout }
        let container = try await readCapabilityContainer()
        var walk = TLVWalk(
            area: container.bytes.count..<areaEnd,
            hasControls: false,
            specification: "NFC Forum T5T 1.0, 4.4",
            isForWriting: isForWriting
        )
        // Usually few bytes come before a message. If there are many, larger reads take less time.
        var piece = Self.firstReadLength
        while true {
            switch try walk.advance(in: memory) {
            case .found(let found):
                if !found.isBroken { layout = found }
                return found
            case .read(let address):
                try await fetch(address..<min(areaEnd, address + piece))
                piece = min(2 * piece, Self.maximumBlocksPerRead * blockSize)
            }
        }
    }

    private func readCapabilityContainer() async throws(TagError) -> Type5CapabilityContainer {
        if let capabilityContainer { return capabilityContainer }
        try await fetchFirstBlock()
        if memory.unit(0).map(Type5CapabilityContainer.isLong) == true { try await fetch(0..<8) }
        let container = try readContainerFromMemory()
        guard container.isReadable else {
            throw TagError(
                .readProtected,
                "The capability container does not grant reading (NFC Forum T5T 1.0, 4.3.2)."
            )
        }
        // Block addresses have at most two bytes.
        areaEnd = min(container.area.upperBound, Self.maximumBlockCount * blockSize)
        // A correct size excludes the container's bytes. A power of two means that it is the whole memory.
        let length = container.areaLength
        if let known = target.family?.memorySize {
            areaEnd = min(areaEnd, known)
        } else if length.nonzeroBitCount == 1, let size = try await readMemorySize() {
            areaEnd = max(container.bytes.count, min(areaEnd, size))
        }
        writesWithOption = writesWithOption || container.usesSpecialFrame
        capabilityContainer = container
        return container
    }

    private func readContainerFromMemory() throws(TagError) -> Type5CapabilityContainer {
        try Type5CapabilityContainer((0..<8).prefix { memory[byte: $0] != nil }.map { memory[byte: $0] ?? 0 })
    }
}
