// SPDX-License-Identifier: Apache-2.0

extension Type4FrontEnd {
    /// The activation of a travel document over NFC-A, with a random UID that changes at each power-up. The ATS allows
    /// frames of 256 bytes and announces extended lengths (ISO/IEC 14443-3, 6.5.4).
    public static let randomEMRTD = Type4FrontEnd.emrtd(uid: [0x08, 0x5A, 0x1C, 0xE7])

    /// Returns the activation of a travel document over NFC-A.
    ///
    /// - Parameter uid: the UID, 4, 7 or 10 bytes. One of 4 bytes that starts with 08 is random.
    public static func emrtd(uid: [UInt8]) -> Type4FrontEnd {
        // The historical bytes announce the same capabilities as EF.ATR/INFO.
        let ats: [UInt8] = [0x0A, 0x78, 0x77, 0x90, 0x02, 0x80, 0x73, 0x94, 0x01, 0x60]
        return .nfcA(uid: uid, atqa: uid.count == 4 ? 0x0008 : 0x0048, ats: ats)
    }

    /// Returns the activation of a travel document over NFC-B: family E1, the CRC_B of the application's name, and a
    /// single application (ISO/IEC 14443-3, 7.9.3).
    ///
    /// - Parameter pupi: the pseudo-unique identifier, 4 bytes.
    public static func emrtd(pupi: [UInt8]) -> Type4FrontEnd {
        .nfcB(pupi: pupi, applicationData: [0xE1, 0xF3, 0x5E, 0x11], protocolInfo: [0x77, 0x81, 0x95])
    }
}

extension VirtualType4Tag {
    /// Creates an electronic travel document.
    ///
    /// - Parameters:
    ///   - contents: the document's contents.
    ///   - frontEnd: its activation; by default over NFC-A with a random UID.
    public convenience init(_ contents: EMRTDContents, frontEnd: Type4FrontEnd = .randomEMRTD) {
        self.init(card: EMRTDCard(contents), frontEnd: frontEnd)
    }
}
