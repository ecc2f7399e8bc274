// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import Testing

/// Checks what is read out of ATRs.
struct AnswerToResetTests {
    typealias Kind = AnswerToReset.StorageCard.Kind

    @Test(
        "A storage card's ATR tells its standard and its name",
        arguments: [
            ("03 0001", Kind.nfcA(sak: 0x08)), ("03 0002", .nfcA(sak: 0x18)), ("03 0003", .nfcA(sak: 0x00)),
            ("03 003A", .nfcA(sak: 0x00)), ("03 0026", .nfcA(sak: 0x09)), ("03 FF20", .nfcA(sak: 0x20)),
            ("03 F004", .type1), ("03 0030", .type1), ("03 F011", .nfcF), ("03 F012", .nfcF), ("11 003B", .nfcF),
            ("0B 0014", .nfcV), ("09 0000", .nfcV), ("0B 0017", .nfcV), ("00 0003", .nfcA(sak: 0x00)),
            ("06 0007", .other("Type B memory card")), ("40 0000", .other("low frequency transponder")),
        ]
    )
    func storageCard(name: String, kind: Kind) throws {
        var bytes = [UInt8](hex: "3B8F8001804F0CA000000306" + name + "00000000")
        bytes.append(bytes.dropFirst().reduce(0, ^))
        let answer = try #require(AnswerToReset(bytes))
        #expect(answer.isContactless)
        #expect(answer.storageCard?.kind == kind)
    }

    @Test("A card with ISO-DEP has its historical bytes, and is no storage card")
    func historicalBytes() throws {
        let desfire = try #require(AnswerToReset([UInt8](hex: "3B8180018080")))
        #expect(desfire.historicalBytes == [0x80])
        #expect(desfire.isContactless)
        #expect(desfire.storageCard == nil)
        let openPGP = try #require(AnswerToReset([UInt8](hex: "3BDA18FF81B1FE751F030031F573C001600090001C")))
        #expect(openPGP.historicalBytes == [UInt8](hex: "0031F573C00160009000"))
        #expect(!openPGP.isContactless)
    }

    @Test("Every beginning of an ATR, and any bytes, are read or refused without a trap")
    func badAnswers() {
        let whole = [UInt8](hex: "3B8F8001804F0CA0000003060300030000000068")
        for length in 0..<whole.count - 1 {
            #expect(AnswerToReset(Array(whole.prefix(length))) == nil)
        }
        #expect(AnswerToReset([]) == nil)
        #expect(AnswerToReset([0x3B, 0xFF]) == nil)
        #expect(AnswerToReset([0x00, 0x00]) == nil)
        for byte in UInt8.min...UInt8.max {
            _ = AnswerToReset([0x3B, byte] + [UInt8](repeating: byte, count: 20))
        }
    }
}
