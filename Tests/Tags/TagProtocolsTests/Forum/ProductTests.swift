// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

@Suite struct `Names of products` {
    @Test(arguments: [
        ("04010101001a05", "MIFARE DESFire EV1 8K"), ("04010112001805", "MIFARE DESFire EV2 4K"),
        ("04010133001605", "MIFARE DESFire EV3 2K"), ("04010100021805", "MIFARE DESFire 4K"),
        ("04040230001105", "NTAG 424 DNA"), ("04040830001105", "NTAG 424 DNA TagTamper"),
        ("04020111001605", "MIFARE Plus EV1 2K"), ("04080130001305", "MIFARE DESFire Light"),
        ("040101a0001a05", "MIFARE DUOX 8K"), ("04020122001605", "MIFARE Plus EV2 2K"),
        ("04010122001a05", "MIFARE DESFire EV2 8K"), ("04810101001805", "MIFARE DESFire EV1 4K"),
        ("04010101001405", "MIFARE DESFire EV1 1K"), ("04010101001205", "MIFARE DESFire EV1"),
        ("05010101001a05", nil), ("04090101001a05", nil),
    ])
    func `GetVersion names a card`(_ hardware: String, _ name: String?) async throws {
        let version = DESFireVersion(bytes(hardware + hardware) + [4, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0])
        #expect(version?.productName == name)
        let card = ISODEP(
            link: ScriptedLink([
                .exchange("e080", "067577810280"), .exchange("02 9060000000", "02" + hardware + "91af"),
                .exchange("03 90af000000", "03" + hardware + "91af"),
                .exchange("02 90af000000", "02 04010203040506 00000000000000 9100"),
                .exchange("03 9060000000", "03 6d00"),
            ])
        )
        #expect(try await DESFireVersion.read(from: card)?.productName == name)
        #expect(try await DESFireVersion.read(from: card) == nil)
        #expect(DESFireVersion(bytes(hardware)) == nil)
    }

    @Test func `Families are identified by SAK, ATQA and historical bytes`() {
        func family(_ atqa: UInt16, _ sak: UInt8?, _ uid: String = "04112233445566", _ historical: String = "")
            -> MIFAREFamily?
        {
            MIFAREFamily(NFCATarget(atqa: atqa, sak: sak, uid: bytes(uid)), historicalBytes: bytes(historical))
        }
        #expect(family(0x0044, 0x00) == .ultralight)
        #expect(family(0x0344, 0x20, "04112233445566", "80") == .desfire)
        #expect(family(0x0344, 0x20) == .desfire)
        #expect(family(0x0044, 0x20, "04112233445566", "c1052f2f01bcd6") == .plus)
        #expect(family(0x0004, 0x08, "11223344") == .classic)
        #expect(family(0x0042, 0x11) == .classic)
        let plus = NFCATarget(atqa: 0x0042, sak: 0x11, uid: bytes("04112233445566"))
        #expect(plus.kindName == "MIFARE Plus card in security level 2")
        #expect(!plus.isType2)
        #expect(family(0x0008, 0x20, "08112233", "8031c073") == nil)
        #expect(family(0x0004, 0x20, "08112233") == nil)
        #expect(family(0x0044, 0x20, "04112233445566", "80") == nil)
        #expect(family(0x0C00, nil, "") == nil)
        #expect(family(0x0044, 0x00, "02112233445566") == nil)
    }

    @Test(arguments: [
        ("e004015000112233", "ICODE SLIX"), ("e004010800112233", "ICODE SLIX2"), ("e004010000112233", "ICODE SLI"),
        ("e002230800112233", "ST25TV512/02K"), ("e002240800112233", "ST25DV04K"), ("e002260800112233", "ST25DV16K/64K"),
        ("e0022c0800112233", "M24LR64"), ("e0fe000000112233", nil), ("e004011800112233", "ICODE DNA"),
        ("e004020000112233", "ICODE SLI-S"), ("e004021000112233", "ICODE SLIX-S"), ("e004020800112233", "ICODE SLI-S"),
        ("e004030000112233", "ICODE SLI-L"), ("e004031000112233", "ICODE SLIX-L"), ("e004040000112233", nil),
        ("e002080000112233", "ST25TV512C/02KC"), ("e002250000112233", "ST25DV04K"),
        ("e002270000112233", "ST25DV16K/64K"), ("e002480000112233", "ST25TV16K/64K"), ("e0022b0000112233", nil),
        ("e0022f0000112233", "M24LR64"), ("e002440000112233", "LRIS64K"), ("e002470000112233", "LRIS64K"),
        ("e0024c0000112233", "M24LR16E"), ("e0024f0000112233", "M24LR16E"), ("e002580000112233", "M24LR04E"),
        ("e0025b0000112233", "M24LR04E"), ("e0025c0000112233", "M24LR64E"), ("e0025f0000112233", "M24LR64E"),
        ("e002600000112233", nil), ("e008010000112233", "MB89R118C"), ("e008020000112233", "MB89R119B"),
        ("e008030000112233", nil), ("e005080000112233", nil),
    ])
    func `A UID names a Type 5 tag`(_ uid: String, _ name: String?) {
        #expect(NFCVTarget(uid: bytes(uid)).productName == name)
    }

    @Test func `Header and IC codes name Type 1 and Type 3 tags`() {
        #expect(Type1Target(headerROM0: 0x11, headerROM1: 0x48, uid: [0, 0, 0, 0]).productName == "Topaz 96")
        #expect(Type1Target(headerROM0: 0x12, headerROM1: 0x4C, uid: [0, 0, 0, 0]).productName == "Topaz 512")
        let target = NFCFTarget(idm: bytes("02fe001122334455"), pmm: bytes("00f1000000014300"), systemCode: nil)
        #expect(target.productName == "FeliCa Lite-S")
        #expect(NFCVTarget(uid: bytes("e004015000112233")).manufacturerName == "NXP")
    }

    @Test(
        arguments: [
            (UInt8(0x00), "FeliCa Standard"), (0x02, "FeliCa Standard"), (0x03, nil), (0x06, "Mobile FeliCa"),
            (0x07, "Mobile FeliCa"), (0x08, "FeliCa Standard"), (0x0D, "FeliCa Standard"), (0x0E, nil),
            (0x10, "Mobile FeliCa"), (0x1F, "Mobile FeliCa"), (0x20, "FeliCa Standard"), (0x21, nil),
            (0x32, "FeliCa Standard"), (0x35, "FeliCa Standard"), (0x43, nil), (0x44, "FeliCa Standard"),
            (0x46, "FeliCa Standard"), (0x47, nil), (0xE0, "FeliCa Plug"), (0xE1, "FeliCa Plug"), (0xF0, "FeliCa Lite"),
            (0xF1, "FeliCa Lite-S"), (0xF2, "FeliCa Link"), (0xFF, nil),
        ] as [(UInt8, String?)]
    )
    func `The IC code names a FeliCa`(code: UInt8, name: String?) {
        let pmm = [0x00, code, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00]
        #expect(NFCFTarget(idm: bytes("02fe001122334455"), pmm: pmm, systemCode: nil).productName == name)
    }

    @Test(
        arguments: [
            ("02", "STMicroelectronics"), ("04", "NXP"), ("05", "Infineon"), ("07", "Texas Instruments"),
            ("08", "Fujitsu"),
            ("16", "EM Microelectronic"), ("67", "ON Semiconductor"), ("03", nil), ("06", nil),
        ] as [(String, String?)]
    )
    func `The code in a UID names the manufacturer`(code: String, name: String?) {
        #expect(NFCVTarget(uid: bytes("e0\(code)015000112233")).manufacturerName == name)
    }
}
