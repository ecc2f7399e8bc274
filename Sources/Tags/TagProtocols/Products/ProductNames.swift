// SPDX-License-Identifier: Apache-2.0
public import TagLink
import TagProducts

extension NFCATarget {
    /// The name of a MIFARE Classic or similar product, derived from its SAK (NXP AN10833, 3); nil for other tags.
    ///
    /// A MIFARE Plus in security level 1 has the SAK of the MIFARE Classic that it replaces.
    public var classicProductName: String? {
        guard isMIFAREClassic, let sak else { return nil }
        switch sak {
        case 0x09: return "MIFARE Classic Mini"
        case 0x08, 0x88: return "MIFARE Classic 1K"
        case 0x18, 0x98: return "MIFARE Classic 4K"
        case 0x19: return "MIFARE Classic 2K"
        case 0x28: return "smart card with a MIFARE Classic 1K"
        case 0x38: return "smart card with a MIFARE Classic 4K"
        default: return "MIFARE Classic"
        }
    }

    /// A sentence that explains why a tag without NDEF procedures has no message to read.
    public var reasonWithoutNDEF: String {
        if let name = classicProductName {
            return """
                The tag answers as a \(name), which opens to its keys alone. These are not used here, nor by iPhones.
                """
        }
        if isNFCDEP { return "This is another NFC device, which has no NDEF message." }
        return "This is \(isISODEP || isType2 ? "a" : "an") \(kindName), which can't hold NDEF."
    }
}

extension NFCFTarget {
    /// The product's name, derived from its IC code, such as `FeliCa Lite-S`; nil when unknown.
    public var productName: String? { CardName.ofFeliCa(icCode: icCode) }
}

extension Type1Target {
    /// The product's name, derived from HR0 and HR1, such as `Topaz 96`; nil when unknown.
    public var productName: String? {
        Type1Product.allCases.first { $0.header == [headerROM0, headerROM1] }?.rawValue
    }
}

extension NFCVTarget {
    /// The manufacturer's name, derived from the code in the UID (ISO/IEC 7816-6); nil when unknown.
    public var manufacturerName: String? {
        switch manufacturer {
        case 0x02: "STMicroelectronics"
        case 0x04: "NXP"
        case 0x05: "Infineon"
        case 0x07: "Texas Instruments"
        case 0x08: "Fujitsu"
        case 0x16: "EM Microelectronic"
        case 0x67: "ON Semiconductor"
        default: nil
        }
    }

    /// The product's name, derived from the UID, such as `ICODE SLIX2`; nil when the UID does not identify the product.
    ///
    /// When products of several sizes share a code, the name lists all of them.
    public var productName: String? { family?.name }

    /// The product family that the UID indicates; nil for an unknown family.
    var family: Type5Family? { Type5Family.of(uid) }
}

/// The families of NXP's MIFARE products, as activation identifies them (NXP AN10833).
public enum MIFAREFamily: Sendable, Hashable, CaseIterable {
    /// MIFARE Ultralight and NTAG 2xx: Type 2 tags.
    case ultralight
    /// MIFARE Plus in a security level with ISO-DEP.
    case plus
    /// MIFARE DESFire and NTAG 4xx.
    case desfire
    /// MIFARE Classic, and MIFARE Plus that behaves like it. Phones without NXP's reader chips can't read these cards.
    case classic

    /// Identifies a tag's family by its activation and the historical bytes of its ATS; nil when it isn't a MIFARE
    /// product.
    public init?(_ target: NFCATarget, historicalBytes: [UInt8] = []) {
        if target.isMIFAREClassic {
            self = .classic
        } else if target.isType2 {
            guard target.uid.first == NFCATarget.nxp else { return nil }
            self = .ultralight
        } else if target.isISODEP {
            if Self.isPlus(historicalBytes) {
                self = .plus
            } else if target.atqa & 0x0F00 == 0x0300, historicalBytes.isEmpty || historicalBytes == [0x80] {
                self = .desfire
            } else {
                return nil
            }
        } else {
            return nil
        }
    }
}

extension MIFAREFamily {
    /// Returns whether historical bytes are those of a MIFARE Plus: C1 05 21 30 or C1 05 2F 2F, a MIFARE application
    /// identifier (NXP AN10833, 4).
    package static func isPlus(_ historicalBytes: some Sequence<UInt8>) -> Bool {
        historicalBytes.starts(with: [0xC1, 0x05])
    }
}

extension TagTarget {
    /// Identifies the product by the tag's own answers, such as `NTAG213`. If the answers during activation aren't
    /// enough, sends GET_VERSION or a similar command.
    ///
    /// - Parameters:
    ///   - tag: the procedures of the activated tag; nil if this kind has none.
    ///   - historicalBytes: the historical bytes of a card's ATS, if known.
    /// - Returns: nil when the tag does not identify its product.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `cancelled`, `readerUnavailable`.
    public func productName(
        asking tag: (any ForumTag)?,
        historicalBytes: [UInt8] = []
    ) async throws(TagError) -> String? {
        switch (self, tag) {
        case (_, let tag as Type1Tag):
            try await tag.prepare()
            return tag.target?.productName
        case (_, let tag as Type2Tag): return try await tag.identifyProduct()
        case (.nfcA(let target), let tag as Type4Tag):
            // Only NXP's cards are asked, because the command may mean something else to other cards.
            switch MIFAREFamily(target, historicalBytes: historicalBytes) {
            case .desfire, .plus: return try await tag.readVersion()?.productName
            default: return nil
            }
        case (.nfcA(let target), _): return target.classicProductName
        case (.nfcB, _): return nil
        // A reader that does not report the PMm returns all ones.
        case (.nfcF(let target), _): return target.productName
        case (.nfcV(let target), let tag as Type5Tag):
            guard let family = target.family, family.needsSize else { return target.productName }
            return family.name(memorySize: try await tag.readMemorySize())
        case (.nfcV(let target), _): return target.productName
        }
    }
}

extension Type4Tag {
    /// Requests the version of a MIFARE DESFire, NTAG 4xx or MIFARE Plus. The selected application stays selected.
    ///
    /// - Returns: nil when the card lacks the command.
    /// - Throws: the errors of the link's `send(_:)`.
    public func readVersion() async throws(TagError) -> DESFireVersion? {
        try await DESFireVersion.read(from: link)
    }
}

/// The answer of a DESFire, NTAG 4xx or MIFARE Plus EV1 or later to GetVersion (MF3ICD81 data sheet, 9.4.6).
public struct DESFireVersion: Sendable, Hashable {
    /// The hardware version, seven bytes: vendor, type, subtype, major and minor version, storage size, protocol.
    public var hardware: [UInt8]
    /// The software version: the same seven fields.
    public var software: [UInt8]
    /// The UID; zeros when the UID is random.
    public var uid: [UInt8]
    /// Batch number and production date: all further bytes that the card sent, usually 7.
    public var production: [UInt8]

    /// Reads the answer's frames: 7 bytes of hardware, 7 of software, at least 7 of UID; nil if bytes are missing.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 21 else { return nil }
        hardware = Array(bytes[0..<7])
        software = Array(bytes[7..<14])
        uid = Array(bytes[14..<21])
        production = Array(bytes[21...])
    }

    /// All bytes of the answer.
    package var bytes: [UInt8] { hardware + software + uid + production }

    /// Whether the card is a MIFARE DESFire.
    package var isDESFire: Bool { hardware[1] & 0x0F == 0x01 }

    /// Requests the version with the command wrapped in APDUs; nil when the card does not know it. The selected
    /// application stays selected.
    ///
    /// - Throws: the errors of the link's `send(_:)`.
    public static func read(from card: any APDULink) async throws(TagError) -> DESFireVersion? {
        var bytes: [UInt8] = []
        var instruction: UInt8 = 0x60
        for _ in 0..<3 {
            let response = try await card.send(CommandAPDU(0x90, instruction, 0x00, 0x00, expectedLength: 256))
            bytes += response.data
            // 91AF: another frame follows.
            guard response.status.rawValue == 0x91AF else {
                return response.status.rawValue == 0x9100 ? DESFireVersion(bytes) : nil
            }
            instruction = 0xAF
        }
        return nil
    }

    /// The storage size in bytes. For a size byte that means a range, this is the lower bound.
    public var storageSize: Int { CardName.storageSize(hardware[5]) }

    /// The product's name, such as `MIFARE DESFire EV1 4K` or `NTAG 424 DNA`; nil when unknown.
    public var productName: String? { CardName.ofNXP(hardware: hardware) }
}
