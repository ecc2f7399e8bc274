// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols  // a driver's data become a target by an internal initializer

/// What activation shows about a tag: its kind, its procedures, its product and its maker.
struct TagNameTests {
    // MARK: Kinds

    /// SAK (- without one), ATQA, and kind: Type 1, Type 2, ISO-DEP, NFC-DEP, MIFARE Classic.
    private static let kinds: [(String, UInt16, String, ForumTagType?, String?)] = [
        ("-", 0x0C00, "1", .type1, nil), ("00", 0x0C00, "2", .type2, nil), ("00", 0x0044, "2", .type2, nil),
        ("20", 0x0344, "i", .type4, nil), ("28", 0x0004, "ic", .type4, "smart card with a MIFARE Classic 1K"),
        ("60", 0x0004, "id", .type4, nil), ("40", 0x0004, "d", nil, nil), ("-", 0x0004, "", nil, nil),
        ("08", 0x0004, "c", nil, "MIFARE Classic 1K"), ("88", 0x0004, "c", nil, "MIFARE Classic 1K"),
        ("18", 0x0004, "c", nil, "MIFARE Classic 4K"), ("09", 0x0004, "c", nil, "MIFARE Classic Mini"),
        ("19", 0x0004, "c", nil, "MIFARE Classic 2K"), ("01", 0x0004, "c", nil, "MIFARE Classic"),
        ("10", 0x0004, "c", nil, "MIFARE Classic"), ("11", 0x0042, "c", nil, "MIFARE Classic"),
    ]

    @Test func `NFC-A: SAK and ATQA give the kind of a tag, its procedures and its MIFARE Classic product`() {
        for (sak, atqa, kind, type, classic) in Self.kinds {
            let target = NFCATarget(atqa: atqa, sak: bytes(sak).first, uid: [4, 1, 2, 3, 4, 5, 6])
            let flags = [
                ("1", target.isType1), ("2", target.isType2), ("i", target.isISODEP), ("d", target.isNFCDEP),
                ("c", target.isMIFAREClassic),
            ]
            #expect(flags.filter(\.1).map(\.0).joined() == kind, "\(sak)")
            #expect(makeForumTag(for: target, link: ScriptedLink())?.type == type, "\(sak)")
            #expect(target.classicProductName == classic, "\(sak)")
            #expect(target.reasonWithoutNDEF.contains(classic ?? "This is"), "\(sak)")
        }
        for (atqa, isType1): (UInt16, Bool) in [
            (0x0C00, true), (0xFCE0, true), (0x0C01, false), (0x0C10, false), (0x0D00, false), (0x0400, false),
        ] { #expect(NFCATarget.isType1(atqa: atqa) == isType1) }
        #expect(NFCATarget(atqa: 0, sak: 0, uid: [UInt8](4...10)).manufacturer == 4)
        #expect(NFCATarget(atqa: 0, sak: 0, uid: [1, 2, 3, 4]).manufacturer == nil)
    }

    @Test func `Discovered tag's identity: gives target and Forum type; a malformed identity throws badAnswer`() throws
    {
        let uid = [UInt8](1...8)
        let rows: [(DiscoveredTag.Identity, TagTarget, ForumTagType?)] = [
            (.nfcV(uid: uid, dsfid: 7), .nfcV(NFCVTarget(uid: uid, dsfid: 7)), .type5),
            (.nfcF(idm: uid, pmm: uid, systemCode: 3), .nfcF(NFCFTarget(idm: uid, pmm: uid, systemCode: 3)), .type3),
            (
                .nfcB(answer: bytes("50 11223344 00000000 008171")),
                .nfcB(try NFCBTarget(bytes("50 11223344 00000000 008171"))), .type4
            ),
            // A memory card of NFC-B, without ISO-DEP.
            (
                .nfcB(answer: bytes("50 11223344 00000000 008071")),
                .nfcB(try NFCBTarget(bytes("50 11223344 00000000 008071"))), nil
            ),
            (
                .nfcA(atqa: 4, sak: 0x20, uid: [1, 2, 3, 4]), .nfcA(NFCATarget(atqa: 4, sak: 0x20, uid: [1, 2, 3, 4])),
                .type4
            ),
        ]
        for (identity, target, type) in rows {
            let found = try TagTarget(identity)
            #expect(found == target && makeForumTag(for: found, link: ScriptedLink(found.technology))?.type == type)
            #expect(found.isISODEP == (type == .type4))
        }
        #expect(try TagTarget(.nfcV(uid: uid, dsfid: 7)).identifier == uid)
        #expect(try TagTarget(.nfcB(answer: bytes("50 11223344 00000000 008171"))).identifier == bytes("11223344"))
        let alone = makeForumTag(for: .nfcV(NFCVTarget(uid: uid)), link: ScriptedLink(.nfcV)) as? Type5Tag
        #expect(alone?.isAlone == true)
        for wrong: DiscoveredTag.Identity in [
            .nfcV(uid: Array(uid.dropLast()), dsfid: 0), .nfcF(idm: uid, pmm: [], systemCode: nil),
            .nfcF(idm: uid + [9], pmm: uid, systemCode: nil), .nfcB(answer: bytes("50 11223344 00000000 0081")),
            .nfcB(answer: bytes("50 11223344 00000000 0081710000")),
            .nfcB(answer: bytes("51 11223344 00000000 008171")),
        ] { #expect(throws: TagError(.badAnswer, "")) { try TagTarget(wrong) } }
    }

    @Test func `MIFARE family: follows from SAK, ATQA, maker and historical bytes, and is nil for other cards`() {
        for (atqa, sak, uid, historical, family): (UInt16, UInt8?, String, String, MIFAREFamily?) in [
            (0x0044, 0x00, "04112233445566", "", .ultralight), (0x0344, 0x20, "04112233445566", "80", .desfire),
            (0x0344, 0x20, "04112233445566", "", .desfire), (0x0044, 0x20, "04112233445566", "c1052f2f01bcd6", .plus),
            (0x0004, 0x08, "11223344", "", .classic), (0x0042, 0x11, "04112233445566", "", .classic),
            (0x0008, 0x20, "08112233", "8031c073", nil), (0x0004, 0x20, "08112233", "", nil),
            (0x0044, 0x20, "04112233445566", "80", nil), (0x0C00, nil, "", "", nil),
            (0x0044, 0x00, "02112233445566", "", nil),
        ] {
            let target = NFCATarget(atqa: atqa, sak: sak, uid: bytes(uid))
            #expect(MIFAREFamily(target, historicalBytes: bytes(historical)) == family, "\(atqa) \(uid) \(historical)")
        }
    }

    // MARK: Products

    /// GetVersion's hardware bytes.
    @Test(arguments: [
        ("04010101001a05", "MIFARE DESFire EV1 8K"), ("04010112001805", "MIFARE DESFire EV2 4K"),
        ("04010133001605", "MIFARE DESFire EV3 2K"), ("04010100021805", "MIFARE DESFire 4K"),
        ("04040230001105", "NTAG 424 DNA"), ("04040830001105", "NTAG 424 DNA TagTamper"),
        ("04020111001605", "MIFARE Plus EV1 2K"), ("04080130001305", "MIFARE DESFire Light"),
        ("040101a0001a05", "MIFARE DUOX 8K"), ("04020122001605", "MIFARE Plus EV2 2K"),
        ("04010122001a05", "MIFARE DESFire EV2 8K"), ("04810101001805", "MIFARE DESFire EV1 4K"),
        ("04010101001405", "MIFARE DESFire EV1 1K"), ("04010101001205", "MIFARE DESFire EV1"), ("05010101001a05", nil),
        ("04090101001a05", nil),
    ]) func `ISO-DEP product: GetVersion gives name and size, and nil for an unlisted product`(
        hardware: String,
        name: String?
    ) {
        #expect(DESFireVersion(bytes(hardware + hardware) + [UInt8](repeating: 4, count: 14))?.productName == name)
    }

    @Test func `GetVersion answer of 20 bytes: gives no version`() {
        #expect(DESFireVersion([UInt8](repeating: 4, count: 20)) == nil)
    }

    /// The first four bytes of a UID.
    private static let type5 = """
        e0040150 ICODE SLIX | e0040108 ICODE SLIX2 | e0040100 ICODE SLI | e0040120 ICODE 3 | e0040127 ICODE 3
        e0040118 ICODE DNA/NTAG 5 | e0040158 ICODE DNA/NTAG 5 | e0040130 ICODE SLIX | e0040200 ICODE SLI-S
        e0040210 ICODE SLIX-S | e0040208 ICODE SLI-S | e0040300 ICODE SLI-L | e0040310 ICODE SLIX-L | e0040400 -
        e0022308 ST25TV512/02K | e0022408 ST25DV04K | e0022608 ST25DV16K/64K | e0022c08 M24LR64 | e0020800 ST25TV512C/02KC
        e0022500 ST25DV04K | e0022700 ST25DV16K/64K | e0024800 ST25TV16K/64K | e0022b00 - | e0022f00 M24LR64
        e0024400 LRIS64K | e0024700 LRIS64K | e0024c00 M24LR16E | e0024f00 M24LR16E | e0025800 M24LR04E
        e0025b00 M24LR04E | e0025c00 M24LR64E | e0025f00 M24LR64E | e0026000 - | e0080100 MB89R118C | e0080200 MB89R119B
        e0080300 - | e0050800 - | e0fe0000 -
        """

    @Test func `Type 5 product: the first bytes of the UID give its name, unlisted ones none`() {
        for row in Self.type5.split(whereSeparator: { $0 == "|" || $0 == "\n" }) {
            let fields = row.split(separator: " ", maxSplits: 1).map(String.init)
            let name = NFCVTarget(uid: bytes(fields[0] + "00112233")).productName ?? "-"
            #expect("\(fields[0]) \(name)" == row.split(separator: " ").joined(separator: " "))
        }
    }

    /// The IC code of PMm, from and to.
    @Test(
        arguments: [
            (0x00, 0x02, "FeliCa Standard"), (0x03, 0x03, nil), (0x06, 0x07, "Mobile FeliCa"),
            (0x08, 0x08, "FeliCa Standard"), (0x0D, 0x0D, "FeliCa Standard"), (0x0E, 0x0E, nil),
            (0x10, 0x1F, "Mobile FeliCa"), (0x20, 0x20, "FeliCa Standard"), (0x21, 0x21, nil),
            (0x32, 0x32, "FeliCa Standard"), (0x35, 0x35, "FeliCa Standard"), (0x43, 0x43, nil),
            (0x44, 0x46, "FeliCa Standard"), (0x47, 0x47, nil), (0xE0, 0xE1, "FeliCa Plug"),
            (0xF0, 0xF0, "FeliCa Lite"), (0xF1, 0xF1, "FeliCa Lite-S"), (0xF2, 0xF2, "FeliCa Link"), (0xFF, 0xFF, nil),
        ] as [(UInt8, UInt8, String?)]
    ) func `FeliCa product: the IC code gives its name, an unlisted one none`(first: UInt8, last: UInt8, name: String?)
    {
        for code in [first, last] {
            let target = NFCFTarget(
                idm: bytes("02fe001122334455"),
                pmm: [0, code, 0, 0, 0, 1, 0x43, 0],
                systemCode: nil
            )
            #expect(target.productName == name)
        }
    }

    @Test func `Type 5 maker: the code in the UID gives its name, an unlisted one none`() {
        for (code, name): (UInt8, String?) in [
            (0x02, "STMicroelectronics"), (0x04, "NXP"), (0x05, "Infineon"), (0x07, "Texas Instruments"),
            (0x08, "Fujitsu"), (0x16, "EM Microelectronic"), (0x67, "ON Semiconductor"), (0x03, nil), (0x06, nil),
        ] { #expect(NFCVTarget(uid: [0xE0, code, 1, 0x50, 0, 0x11, 0x22, 0x33]).manufacturerName == name) }
    }

    @Test func `Type 1 product: HR0 and HR1 give Topaz 96 or 512`() {
        for (first, second, name): (UInt8, UInt8, String) in [(0x11, 0x48, "Topaz 96"), (0x12, 0x4C, "Topaz 512")] {
            #expect(Type1Target(headerROM0: first, headerROM1: second, uid: [0, 0, 0, 0]).productName == name)
        }
    }

    @Test func `Product name: from the activation data where they suffice, otherwise by commands to the tag`()
        async throws
    {
        func name(_ target: TagTarget, _ tag: (any ForumTag)?, historical: String = "") async throws -> String? {
            try await target.productName(asking: tag, historicalBytes: bytes(historical))
        }
        let type1 = ScriptedLink()
        type1.load(Script("prepare; > 78{6} < 1148 01020304", checksum: .crcB).calls[0].steps, "RID", #_sourceLocation)
        #expect(try await name(.nfcA(NFCATarget(atqa: 0x0C00, sak: nil, uid: [])), Type1Tag(link: type1)) == "Topaz 96")
        let type2 = TagTarget.nfcA(NFCATarget(atqa: 0x0044, sak: 0, uid: bytes("04a1b2c3d4e580")))
        #expect(try await name(type2, makeTag(ScriptedLink(exchanges: "> 60 < 0004040201000f03"))) == "NTAG213")
        #expect(try await name(type2, nil) == nil)
        #expect(try await name(.nfcA(NFCATarget(atqa: 4, sak: 8, uid: [1, 2, 3, 4])), nil) == "MIFARE Classic 1K")
        #expect(try await name(.nfcV(NFCVTarget(uid: bytes("e004015000112233"))), nil) == "ICODE SLIX")
        #expect(try await name(.nfcB(NFCBTarget(bytes("50 11223344 00000000 008171"))), nil) == nil)
        // The size of the memory tells products with the same UIDs apart.
        for (uid, size, product) in [
            ("e0040118", "3f", "ICODE DNA"), ("e0040118", "7f", "NTAG 5"), ("e0022300", "0f", "ST25TV512"),
            ("e0022300", "3f", "ST25TV02K"), ("e0022300", "2f", "ST25TV512/02K"),
        ] {
            let target = NFCVTarget(uid: bytes(uid + "00112233"))
            let answer = "00 04 \(hex(target.uid.reversed())) \(size)03"
            let link = ScriptedLink(.nfcV, exchanges: "> 022b < \(answer)")
            let tag = Type5Tag(target: target, link: link, isAlone: true)
            #expect(try await name(.nfcV(target), tag) == product, "\(uid) \(size)")
        }
        // A card of ISO-DEP is asked when it is a MIFARE.
        let card = TagTarget.nfcA(NFCATarget(atqa: 0x0344, sak: 0x20, uid: bytes("04a1b2c3d4e580")))
        let version =
            "> 9060000000 < 04010101001805 91af; > 90af000000 < 04010101001805 91af; > 90af000000 < 04010203040506 {7} 9100"
        for (historical, exchanges, product): (String, String, String?) in [
            ("", version, "MIFARE DESFire EV1 4K"), ("c1052f2f01bcd6", version, "MIFARE DESFire EV1 4K"),
            ("8031", "", nil),
        ] {
            let tag = Type4Tag(link: ScriptedLink(exchanges: exchanges))
            #expect(try await name(card, tag, historical: historical) == product, "\(historical)")
        }
    }

    // MARK: Errors and surveys

    @Test func `Link error as tag error: each code has its tag code, and is fatal unless a retry can help`() {
        let codes: [(LinkError.Code, TagError.Code, Bool)] = [
            (.timeout, .tagLost, false), (.tagRemoved, .tagLost, true), (.cancelled, .cancelled, true),
            (.readerUnavailable, .readerUnavailable, true), (.inUse, .readerUnavailable, true),
            (.unsupported, .unsupported, true), (.frameTooLong, .unsupported, true), (.collision, .badAnswer, false),
            (.transmission, .badAnswer, false), (.protocolViolation, .badAnswer, true),
        ]
        for (code, wanted, isFatal) in codes {
            let error = LinkError(code, "Why.")
            for technology: Technology? in [.nfcA, .nfcB, .nfcF, .nfcV, nil] {
                let found = TagError(link: error, over: technology)
                #expect(found.code == wanted && found.link == error)
                // A damaged answer names the rule of framing that it broke.
                if code == .transmission { #expect(found.reason.hasSuffix(").") && found.reason.hasPrefix("Why (")) }
            }
            #expect(TagError(fatal: error)?.code == (isFatal ? wanted : nil))
        }
        #expect(TagError(link: LinkError(.transmission, "A rule (X, 1)."), over: .nfcA).reason == "A rule (X, 1).")
    }

    @Test func `NDEF status report: detection and message, or the error of a tag without NDEF; a cancellation throws`()
        async throws
    {
        func ndefStatus(_ answer: String) async throws -> NDEFStatusReport {
            try await makeTag(ScriptedLink(exchanges: "> 3003 < \(answer)")).queryNDEFStatus()
        }
        let found = try await ndefStatus("e1100600 0301aafe {8}")
        let detection = NDEFDetection(access: .readWrite, capacity: 46, messageLength: 1)
        #expect(found == NDEFStatusReport(detection: detection, message: [0xAA]) && found.error == nil)
        for (answer, code): (String, TagError.Code) in [("{16}", .noCapabilityContainer), ("nak", .readProtected)] {
            let none = try await ndefStatus(answer)
            #expect(none.detection == nil && none.message == nil && none.error?.code == code)
        }
        #expect(await errorCode { _ = try await ndefStatus("cancelled") } == .cancelled)
    }

    @Test func `Tag error: seven codes mean that a tag has no NDEF, the others end the reading`() {
        let codes: [(TagError.Code, Bool)] = [
            (.noCapabilityContainer, true), (.badVersion, true), (.noMessageTLV, true), (.lengthOverrun, true),
            (.badChecksum, true), (.writeInProgress, true), (.readProtected, true), (.tagLost, false),
            (.readOnly, false), (.messageTooLong, false), (.authenticationFailed, false), (.keyNeeded, false),
            (.refused, false), (.updateFailed, false), (.badAnswer, false), (.unsupported, false), (.cancelled, false),
            (.readerUnavailable, false),
        ]
        for (code, isNotNDEF) in codes { #expect(TagError(code, "").meansNotNDEF == isNotNDEF) }
    }
}
