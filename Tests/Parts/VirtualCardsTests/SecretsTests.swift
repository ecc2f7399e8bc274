// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Checks which images only their owner should read.
@Suite struct `Keys and passwords in an image` {
    /// Where a Type 2 tag has its password and PACK, or its 3DES key.
    static let places: [(product: Type2Product, bytes: Range<Int>)] = [
        (.ultralightEV1UL11, 18 * 4..<19 * 4 + 2), (.ultralightEV1UL21, 39 * 4..<40 * 4 + 2),
        (.ntag213, 43 * 4..<44 * 4 + 2), (.ntag215, 133 * 4..<134 * 4 + 2), (.ntag216, 229 * 4..<230 * 4 + 2),
        (.ultralightC, 44 * 4..<48 * 4),
    ]

    @Test(arguments: places.indices) func `Each byte of a password, its answer or a key is a secret`(index: Int) {
        let (product, bytes) = Self.places[index]
        let blank = Type2Contents(blank: product, uid: Script.uid)
        #expect(!TagContents.type2(blank).holdsSecrets)
        for byte in bytes {
            var contents = blank
            contents.memory[byte] ^= 0x5A
            #expect(TagContents.type2(contents).holdsSecrets, "byte \(byte)")
        }
        for byte in 16..<bytes.lowerBound - 8 {
            var contents = blank
            contents.memory[byte] ^= 0x5A
            #expect(!TagContents.type2(contents).holdsSecrets, "byte \(byte)")
        }
    }

    @Test func `Each key of a card, and each password of an ICODE, is a secret`() throws {
        let key = try #require(DESFireKey(.aes, Array(1...16)))
        var desfire = DESFireContents.ndef()
        #expect(try !holdsSecrets(VirtualType4Tag(desfire)))
        desfire.masterKey = key
        #expect(try holdsSecrets(VirtualType4Tag(desfire)))
        for index in try #require(DESFireContents.ndef().applications.first).keys.indices {
            var contents = DESFireContents.ndef()
            contents.applications[0].keys[index] = key
            #expect(try holdsSecrets(VirtualType4Tag(contents)))
        }
        #expect(try !holdsSecrets(VirtualType4Tag(NTAG424Contents())))
        for index in NTAG424Contents().keys.indices {
            var contents = NTAG424Contents()
            contents.keys[index] = key
            #expect(try holdsSecrets(VirtualType4Tag(contents)))
        }
        let icode = Type5Contents(blank: .icodeSLIX2)
        #expect(!TagContents.type5(icode).holdsSecrets)
        for identifier in icode.passwords.keys {
            var contents = icode
            contents.passwords[identifier] = 0x0403_0201
            #expect(TagContents.type5(contents).holdsSecrets, "password \(identifier)")
        }
        var lite = FeliCaLiteSContents(idm: [0x02, 0xFE, 1, 2, 3, 4, 5, 6])
        #expect(!TagContents.type3(.liteS(lite)).holdsSecrets)
        lite.cardKey[15] = 1
        #expect(TagContents.type3(.liteS(lite)).holdsSecrets)
    }

    @Test(arguments: [Type5Product.st25tv02K, .st25dv04K])
    func `Each byte of each password of an ST25 is a secret`(product: Type5Product) {
        let blank = Type5Contents(blank: product)
        #expect(!TagContents.type5(blank).holdsSecrets)
        for (number, password) in blank.settings.passwords.enumerated() {
            for byte in [0, password.count - 1] {
                var contents = blank
                contents.settings.passwords[number][byte] = 0x5A
                #expect(TagContents.type5(contents).holdsSecrets, "password \(number), byte \(byte)")
            }
        }
    }

    @Test func `The key of a FeliCa system is a secret, and that of each of its areas and services`() {
        func holdsSecrets(_ change: (inout FeliCaSystem) -> Void) -> Bool {
            var system = FeliCaSystem(code: 0x0003, files: [])
            change(&system)
            let contents = FeliCaStandardContents(idm: [0x01, 0xFE, 1, 2, 3, 4, 5, 6], systems: [system])
            return TagContents.type3(.standard(contents)).holdsSecrets
        }
        #expect(!holdsSecrets { _ in })
        #expect(!holdsSecrets { $0.key = [0, 0, 0, 0, 0, 0, 0, 0] })
        #expect(holdsSecrets { $0.key = [0, 0, 0, 0, 0, 0, 0, 1] })
        #expect(holdsSecrets { $0.nodeKeys = [0x0000: [0], 0x008B: [7]] })
    }

    @Test func `Each byte of a key of a MIFARE Classic is a secret, where it is not the delivered one`() {
        for product in [ClassicProduct.classic1K, .classic4K] {
            let blank = ClassicContents(blank: product, uid: [1, 2, 3, 4])
            #expect(!TagContents.classic(blank).holdsSecrets)
            for sector in [0, product.sectorCount - 1] {
                let trailer = ClassicProduct.trailer(ofSector: sector) * 16
                for byte in 0..<16 {
                    var contents = blank
                    contents.memory[trailer + byte] ^= 0x5A
                    #expect(TagContents.classic(contents).holdsSecrets == !(6..<10).contains(byte), "byte \(byte)")
                }
            }
            // What a reader could not read is zero.
            var unread = blank
            unread.memory = Array(repeating: 0, count: unread.memory.count)
            #expect(!TagContents.classic(unread).holdsSecrets)
        }
    }

    @Test func `A tag without keys, or whose pages of keys are cut off, has no secret, and a payment card is one`()
        throws
    {
        #expect(!TagContents.type1(Type1Contents(blank: .topaz96, uid: [1, 2, 3, 4, 5, 6, 7])).holdsSecrets)
        #expect(try !holdsSecrets(VirtualType4Tag(card: ApplicationCard([NDEFApplication(size: 64)]))))
        var cut = Type2Contents(blank: .ntag213, uid: Script.uid)
        cut.memory.removeLast(100)
        #expect(!TagContents.type2(cut).holdsSecrets)
        let payment = EMVContents(applicationIdentifier: [], accountNumber: [0x41])
        let frontEnd = Type4FrontEnd.nfcA(uid: [4, 1, 2, 3, 4, 5, 6], ats: [0x05, 0x78, 0x80, 0x70, 0x02])
        #expect(TagContents.type4(Type4Contents(frontEnd: frontEnd, kind: .emv(payment))).holdsSecrets)
    }

    private func holdsSecrets(_ tag: VirtualType4Tag) throws -> Bool { try #require(TagContents(of: tag)).holdsSecrets }
}
