// SPDX-License-Identifier: Apache-2.0
public import VirtualTags

extension Type4FrontEnd {
    /// How a travel document presents itself over NFC-A: with a random UID, which is another one each time that the
    /// field comes back, and an ATS for frames of 256 octets that announces extended lengths (ISO/IEC 14443-3, 6.5.4).
    public static let randomEMRTD = Type4FrontEnd.emrtd(uid: [0x08, 0x5A, 0x1C, 0xE7])

    /// How a travel document over NFC-A presents itself.
    ///
    /// - Parameter uid: the UID, 4, 7 or 10 octets. One of 4 octets that begins with 08 is a random one.
    public static func emrtd(uid: [UInt8]) -> Type4FrontEnd {
        // The historical octets tell the capabilities that EF.ATR/INFO has, too.
        let ats: [UInt8] = [0x0A, 0x78, 0x77, 0x90, 0x02, 0x80, 0x73, 0x94, 0x01, 0x60]
        return .nfcA(uid: uid, atqa: uid.count == 4 ? 0x0008 : 0x0048, ats: ats)
    }

    /// How a travel document over NFC-B presents itself: its family E1, the CRC_B of the application's name, and that
    /// the application is the only one (ISO/IEC 14443-3, 7.9.3).
    ///
    /// - Parameter pupi: the pseudo-unique identifier, 4 octets.
    public static func emrtd(pupi: [UInt8]) -> Type4FrontEnd {
        .nfcB(pupi: pupi, applicationData: [0xE1, 0xF3, 0x5E, 0x11], protocolInfo: [0x77, 0x81, 0x95])
    }
}

extension Type4Tag {
    /// Creates an electronic travel document.
    ///
    /// - Parameters:
    ///   - contents: what the document holds.
    ///   - frontEnd: how it presents itself; over NFC-A with a random UID unless given.
    public convenience init(_ contents: EMRTDContents, frontEnd: Type4FrontEnd = .randomEMRTD) {
        self.init(card: EMRTDCard(contents), frontEnd: frontEnd)
    }
}
