// SPDX-License-Identifier: Apache-2.0
import CardCryptography

/// A pair of keys of triple DES (ICAO 9303-11, 9.7.1): one that enciphers, one that authenticates.
struct EMRTDKeys: Sendable, Hashable {
    var encryption: [UInt8]
    var authentication: [UInt8]

    /// The keys of basic access control, from what is printed in the document (ICAO 9303-11, 4.3.2 and 9.7.2).
    init(_ zone: MachineReadableZone) throws(CryptographyError) {
        try self.init(seed: Array(try MessageDigest.sha1.hash(zone.accessInformation).prefix(16)))
    }

    /// Derives both keys from a seed of 16 octets.
    init(seed: [UInt8]) throws(CryptographyError) {
        encryption = try Self.derive(seed, 1)
        authentication = try Self.derive(seed, 2)
    }

    private static func derive(_ seed: [UInt8], _ counter: UInt8) throws(CryptographyError) -> [UInt8] {
        try MessageDigest.sha1.hash(seed + [0, 0, 0, counter]).prefix(16).map { octet in
            // DES leaves out the lowest bit, and asks that the number of ones is odd.
            octet.nonzeroBitCount.isMultiple(of: 2) ? octet ^ 1 : octet
        }
    }

    /// Enciphers whole blocks, chained from zero.
    func encrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.des(encryption).encrypt(data, .blockChaining(vector: Array(repeating: 0, count: 8)))
    }

    /// Deciphers whole blocks, chained from zero.
    func decrypt(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.des(encryption).decrypt(data, .blockChaining(vector: Array(repeating: 0, count: 8)))
    }

    /// The message authentication code of octets, which are padded first.
    func code(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try BlockCipher.retailMAC(Self.padded(data), key: authentication)
    }

    /// Pads to whole blocks of 8 octets (ISO/IEC 9797-1, padding method 2).
    static func padded(_ data: [UInt8]) -> [UInt8] {
        data.paddedWithMark(to: 8)
    }

    /// Takes the padding away, or gives nil where there is none.
    static func unpadded(_ data: [UInt8]) -> [UInt8]? {
        guard let mark = data.lastIndex(where: { $0 != 0 }), data[mark] == 0x80, data.count - mark <= 8 else {
            return nil
        }
        return Array(data[..<mark])
    }
}
