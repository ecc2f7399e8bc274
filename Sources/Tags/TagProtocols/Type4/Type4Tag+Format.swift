// SPDX-License-Identifier: Apache-2.0

extension Type4Tag {
    /// Formats a MIFARE DESFire EV1 or later as an empty NDEF tag (NXP AN11004, 4): creates application 000001 with the
    /// DF name D2760000850101, and the files E103 and E104. The card must allow everyone to create applications, as it
    /// does when new.
    ///
    /// Nothing needs a key afterwards. ``lock()`` then writes the capability container, and only that byte protects the
    /// tag from being written. Cards that are NDEF tags already are not changed.
    ///
    /// - Throws: ``TagError`` with `unsupported` when the card isn't a DESFire with ISO file names, `updateFailed` when
    ///   it refuses, for example because it needs a key, `tagLost`, `badAnswer`, `cancelled`.
    public func format() async throws(TagError) {
        do throws(TagError) {
            _ = try await readCapabilityContainer()
            return
        } catch {
            guard error.code == .noCapabilityContainer else { throw error }
        }
        selectionWasChanged()
        guard let version = try await DESFireVersion.read(from: link), version.hardware[1] & 0x0F == 0x01,
            version.hardware[3] >= 1
        else {
            throw TagError(.unsupported, "Only MIFARE DESFire EV1 and later can be formatted without a key.")
        }
        // For cards of 2K, 4K and 8K. The largest size leaves some bytes for the card's own data.
        let size = version.storageSize >= 8192 ? 0x1E00 : min(0x1000, version.storageSize)
        let container: [UInt8] = [
            0x00, 0x0F, 0x20, 0x00, 0x3B, 0x00, 0x34, 0x04, 0x06, 0xE1, 0x04, UInt8(size >> 8), UInt8(size & 0xFF),
            0x00, 0x00,
        ]
        // Select the card itself; one key, files with ISO identifiers.
        try await sendNative(0x5A, [0x00, 0x00, 0x00])
        try await sendNative(0xCA, [0x01, 0x00, 0x00, 0x0F, 0x21, 0x10, 0xE1] + Self.applicationName, mayExist: true)
        try await sendNative(0x5A, [0x01, 0x00, 0x00])
        // Standard data files, plain, with free access.
        try await sendNative(0xCD, [0x01, 0x03, 0xE1, 0x00, 0xEE, 0xEE, 0x0F, 0x00, 0x00], mayExist: true)
        try await sendNative(
            0xCD,
            [0x02, 0x04, 0xE1, 0x00, 0xEE, 0xEE, UInt8(size & 0xFF), UInt8(size >> 8), 0x00],
            mayExist: true
        )
        guard try await select(file: Type4CapabilityContainer.file) else {
            throw TagError(
                .updateFailed,
                "The capability container was created and can't be selected (NFC Forum T4T 1.2, 5.5)."
            )
        }
        // One command writes the whole container, so the version byte is never there without the rest.
        try await updateBinary(offset: 0, container)
    }

    /// Sends a native DESFire command in an APDU (MF3ICD81 data sheet, 8.3).
    private func sendNative(_ command: UInt8, _ data: [UInt8], mayExist: Bool = false) async throws(TagError) {
        let status = try await send(CommandAPDU(0x90, command, 0x00, 0x00, data: data, expectedLength: 256)).status
        // 91DE: the application or file exists already.
        guard status.rawValue == 0x9100 || mayExist && status.rawValue == 0x91DE else {
            throw TagError(
                .updateFailed,
                "The card refused DESFire command \(String(command, radix: 16, uppercase: true)) with \(status) (MF3ICD81 data sheet, 8.3)."
            )
        }
    }
}
