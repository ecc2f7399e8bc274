// SPDX-License-Identifier: Apache-2.0

extension Type2Tag {
    /// Runs the NDEF detection procedure (NFC Forum T2T 1.2, 6.2).
    ///
    /// It begins with READ of page 3, which brings the capability container and 12 octets of the data area at once, and
    /// goes on only as far as the NDEF message TLV's length. An NDEF message TLV whose length runs past the data area is
    /// an error; the first one counts; NULL, control, proprietary and unknown TLVs before it are passed over.
    ///
    /// - Returns: what was found. A second call makes no exchange.
    /// - Throws: ``TagError`` with `noCapabilityContainer`, `badVersion`, `noMessageTLV`, `lengthOverrun`; `refused` when
    ///   the tag keeps its memory back; `tagLost`, `badAnswer`, `cancelled`.
    public func detectNDEF() async throws(TagError) -> NDEFDetection {
        let layout = try await locate()
        return NDEFDetection(
            access: capabilityContainer?.isWritable == true ? .readWrite : .readOnly,
            capacity: layout.capacity,
            messageLength: layout.messageLength
        )
    }

    /// Finds the NDEF message TLV.
    ///
    /// - Parameters:
    ///   - firstPage: the page to begin with when nothing has been read: 3, or 2 when the static lock bits are wanted as
    ///     well.
    ///   - isForWriting: whether one with a broken length is found too, so that it can be written.
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
        if !memory.contains(Type2Memory.capabilityContainerPage) { try await performRead(firstPage) }
        let container = try Type2CapabilityContainer(memory[page: Type2Memory.capabilityContainerPage] ?? [])
        capabilityContainer = container
        assessFastRead(container, [])
        return container
    }

    /// Concludes from what has been read whether the tag has FAST_READ, without asking it.
    ///
    /// Among NXP's products an area of 496, 872 or 1872 octets is an NTAG215, an NTAG216 or NTAG I2C, and one of 128 an
    /// NTAG212 or Ultralight EV1, which all have it. One of 144 is an NTAG213, an NTAG203 or an Ultralight C: the control
    /// TLV that the factory writes tells. One of 48 is read as fast with READ.
    func assessFastRead(_ container: Type2CapabilityContainer, _ controls: [TLVControl]) {
        guard fastRead == .unknown else { return }
        if container.sizeOctet <= 0x06 {
            fastRead = .unusable
        } else if target.manufacturer == Type2Product.manufacturer {
            let factory = controls.first { $0.isLock }?.value
            if let product = Type2Product.inferred(sizeOctet: container.sizeOctet, lockControl: factory) {
                fastRead = product.hasFastRead ? .usable : .unusable
            }
        }
    }
}
