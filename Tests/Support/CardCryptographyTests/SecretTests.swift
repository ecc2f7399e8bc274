// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Testing

@Suite struct `Keys in memory` {
    private static let key: [UInt8] = Array(0xC0...0xCF)

    /// All that a program prints of a value without wanting to.
    private func shown(_ value: some Any) -> String {
        var text = "\(value)" + String(reflecting: value)
        dump(value, to: &text)
        return text.lowercased()
    }

    private func hides(_ value: some Any) -> Bool {
        let text = shown(value)
        return !text.contains("192") && !text.contains("c0c1") && !text.contains("207")
    }

    /// Not private: the name of a private type has an address in it, in which the numbers of a key may be.
    struct Holder {
        @Hidden var key: [UInt8]
        let name = "a name"
    }

    @Test func `A key shows in no print and no dump of what holds it`() throws {
        #expect(!hides(Self.key))
        #expect(hides(SecretBytes(Self.key)))
        #expect(hides(Holder(key: Self.key)) && shown(Holder(key: Self.key)).contains("a name"))
        #expect(hides(try BlockCipher.aes(Self.key)))
        #expect(hides(SigningKey(encoded: Self.key)))
        #expect(hides(try FeliCaLiteCodes(cardKey: Self.key, challenge: Array(repeating: 0, count: 16))))
    }

    @Test func `Keys are equal by their bytes, and a cipher works with its own`() throws {
        #expect(SecretBytes(Self.key) == SecretBytes(Self.key))
        #expect(SecretBytes(Self.key) != SecretBytes(Self.key.reversed()))
        #expect(SecretBytes(Self.key).bytes == Self.key && SecretBytes([]).count == 0)
        // FIPS 197, appendix B.
        let cipher = try BlockCipher.aes([
            0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6, 0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C,
        ])
        let plain: [UInt8] = [
            0x32, 0x43, 0xF6, 0xA8, 0x88, 0x5A, 0x30, 0x8D, 0x31, 0x31, 0x98, 0xA2, 0xE0, 0x37, 0x07, 0x34,
        ]
        #expect(try cipher.encrypt(plain).prefix(4) == [0x39, 0x25, 0x84, 0x1D])
    }

    @Test func `Codes are the same when every byte is, whatever their kind of collection`() {
        #expect(ConstantTime.areEqual(Self.key, Self.key[...]))
        #expect(ConstantTime.areEqual([], []))
        #expect(!ConstantTime.areEqual(Self.key, Self.key.dropLast()))
        for index in Self.key.indices {
            var other = Self.key
            other[index] ^= 1
            #expect(!ConstantTime.areEqual(Self.key, other))
        }
    }
}
