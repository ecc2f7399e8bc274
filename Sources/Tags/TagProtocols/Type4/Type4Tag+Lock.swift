// SPDX-License-Identifier: Apache-2.0

extension Type4Tag {
    /// Makes the tag read-only: writes write access FF to the capability container (NFC Forum T4T 1.2, 6.5).
    ///
    /// - Throws: ``TagError`` with `readOnly` when it is read-only already, `keyNeeded` when the card protects the
    ///   capability container with a key, `updateFailed` when the card refused, `tagLost`, and the errors of
    ///   ``detectNDEF()``.
    public func lock() async throws(TagError) {
        let container = try await readCapabilityContainer()
        guard container.writeAccess == 0 else {
            throw TagError(.readOnly, "The tag is read-only already.")
        }
        guard try await select(file: Type4CapabilityContainer.file) else {
            throw TagError(.updateFailed, "The capability container can't be selected again (NFC Forum T4T 1.2, 5.5).")
        }
        capabilityContainer = nil
        try await updateBinary(offset: container.writeAccessOffset, [0xFF])
        var locked = container
        locked.writeAccess = 0xFF
        capabilityContainer = locked
    }

    /// Requests the access rights to the capability container from a DESFire or an NTAG 4xx, where it is file 01 (NXP
    /// AN11004; NT4H2421Gx data sheet, 8.2). Other cards don't know the command, and are assumed to allow locking.
    ///
    /// - Throws: ``TagError`` with `keyNeeded` when writing it needs a key, `tagLost`, and the errors of
    ///   ``detectNDEF()``.
    public func checkLocking() async throws(TagError) {
        try await selectApplication()
        // Later procedures start as if nothing was sent, and take the same time.
        defer { selectionWasChanged() }
        // GET FILE SETTINGS: type, communication mode, and the access rights, least significant byte first.
        let settings = try await send(CommandAPDU(0x90, 0xF5, 0x00, 0x00, data: [0x01], expectedLength: 256))
        guard settings.status.rawValue == 0x9100, settings.data.count >= 4 else { return }
        let rights = [settings.data[3] & 0x0F, settings.data[2] >> 4]
        guard !rights.contains(Self.everybody) else { return }
        throw TagError(
            .keyNeeded,
            "A key is needed to make this card read-only: its capability container can't be written without one."
        )
    }

    /// The access right that means free access.
    private static let everybody: UInt8 = 0x0E
}
