// SPDX-License-Identifier: Apache-2.0
import TagProducts

extension Type2Tag {
    /// Runs the NDEF detection procedure (NFC Forum T2T 1.2, 6.2).
    ///
    /// It starts with READ of page 3, which returns the capability container and 12 bytes of the data area. It reads on
    /// only as far as the length of the NDEF message TLV. The first NDEF message TLV counts, and it is an error when
    /// its length runs past the data area. NULL, control, proprietary and unknown TLVs before it are skipped.
    ///
    /// - Returns: the result. A second call makes no exchange.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`, `lengthOverrun`;
    ///   `readProtected` when the tag or its capability container does not grant free reading; `tagLost`, `badAnswer`,
    ///   `cancelled`.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let layout = try await locate()
        return layout.detection(isWritable: capabilityContainer?.isWritable == true)
    }

    /// Finds the NDEF message TLV.
    ///
    /// - Parameters:
    ///   - firstPage: the first page to read when none was read yet: 3, or 2 when the static lock bits are needed too.
    ///   - isForWriting: whether an NDEF message TLV with a broken length is found too, so that it can be written.
    func locate(
        startingAt firstPage: Int = Type2Memory.capabilityContainerPage,
        isForWriting: Bool = false
    ) async throws(TagError) -> TLVLayout {
        if let lost { throw lost }
        if let layout { return layout }
        let container = try await readCapabilityContainer(startingAt: firstPage)
        var walk = TLVWalk(
            area: container.area,
            hasControls: true,
            specification: "NFC Forum T2T 1.2, 4.3",
            isForWriting: isForWriting
        )
        while true {
            switch try walk.advance(in: memory) {
            case .found(let found):
                if !found.isBroken { layout = found }
                controls = found.controls
                assessFastRead(container, found.controls)
                return found
            case .read(let address):
                let page = address / Type2Memory.pageSize
                try await fetch(page..<min(page + 4, container.endPage))
            }
        }
    }

    /// Reads and checks the capability container.
    func readCapabilityContainer(startingAt firstPage: Int) async throws(TagError) -> Type2CapabilityContainer {
        if let capabilityContainer { return capabilityContainer }
        let page = Type2Memory.capabilityContainerPage
        if !memory.contains(page) { try await performRead(firstPage) }
        // The READ of page 2 rolled over where the password begins with page 3.
        if !memory.contains(page) { try await performRead(page) }
        let container = try Type2CapabilityContainer(memory[page: page] ?? [])
        capabilityContainer = container
        assessFastRead(container, [])
        return container
    }

    /// Derives from the memory read so far whether the tag has FAST_READ, without an exchange.
    ///
    /// Among NXP's products an area of 496, 872 or 1872 bytes means NTAG215, NTAG216 or NTAG I2C, and 128 bytes mean
    /// NTAG212 or Ultralight EV1. All of these have it. An area of 144 bytes means NTAG213, NTAG203 or Ultralight C,
    /// which differ in the control TLV from the factory. An area of 48 bytes is read as fast with READ.
    func assessFastRead(_ container: Type2CapabilityContainer, _ controls: [TLVControl]) {
        guard fastRead == .unknown else { return }
        if container.sizeByte <= 0x06 {
            fastRead = .unusable
        } else if target.isNXP {
            let factory = controls.first { $0.isLock }?.value
            if let product = Type2Product(capabilitySize: container.sizeByte, lockControl: factory) {
                fastRead = product.features.contains(.fastRead) ? .usable : .unusable
            }
        }
    }
}

extension Type2Tag {
    /// Formats a blank tag of a known product: writes an empty message, then the capability container.
    ///
    /// A tag that is formatted already is not changed. The capability container is written last, so a tag that is lost
    /// in between is either still blank or formatted.
    ///
    /// - Throws: ``TagError`` with `unsupported` when the product is unknown or its one-time programmable page 3 holds
    ///   something else; `readOnly` when the pages are locked or the container forbids writing;
    ///   `updateFailed`, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        do throws(TagError) {
            _ = try await locate()
            return
        } catch {
            guard error.code == .noCapabilityContainer || error.code == .noMessageTLV else { throw error }
        }
        if let capabilityContainer, !capabilityContainer.isWritable { throw Self.forbiddenByContainer }
        guard let product = try await product() else {
            throw TagError(.unsupported, "The tag's product isn't known, so neither is how to format it.")
        }
        let page = Type2Memory.capabilityContainerPage
        try await fetch(page..<page + 1)
        let present = memory[page: page] ?? []
        let container = [Type2CapabilityContainer.magicNumber, 0x10, product.capabilitySize, 0x00]
        let isFormatted = capabilityContainer != nil
        guard isFormatted || zip(present, container).allSatisfy({ $0 | $1 == $1 }) else {
            throw TagError(
                .unsupported,
                "Page 3 of the tag can be programmed only once, and holds something other than a capability container."
            )
        }
        let first = page + 1
        let message = product.emptyMessage
        let count = message.count / Type2Memory.pageSize
        try await checkLocks(Array(isFormatted ? first..<first + count : page..<first + count))
        for index in 0..<count {
            let start = index * Type2Memory.pageSize
            try await write(Array(message[start..<start + Type2Memory.pageSize]), to: first + index)
        }
        if !isFormatted { try await write(container, to: page) }
    }
}
