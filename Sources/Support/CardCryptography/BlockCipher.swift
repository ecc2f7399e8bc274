// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// A block cipher with its key: AES, single DES or triple DES.
///
/// All data are whole blocks. Padding depends on the card's protocol and is done by the caller. All functions throw
/// ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
public struct BlockCipher: Sendable, Hashable {
    /// How the blocks of a message depend on each other (NIST SP 800-38A).
    public enum Mode: Sendable, Hashable {
        /// Each block is encrypted alone (ECB).
        case electronicCodebook
        /// Each block is combined with the encrypted block before it (CBC). The first block is combined with `vector`,
        /// which is one block long.
        case blockChaining(vector: [UInt8])
    }

    /// The length of a block: 16 bytes for AES, 8 for DES.
    public let blockLength: Int
    /// The key in the form that the library needs.
    private let key: SecretBytes

    /// A block of zeros: the vector with which many protocols begin.
    package var zeros: [UInt8] { [UInt8](repeating: 0, count: blockLength) }

    private init(blockLength: Int, key: [UInt8]) {
        self.blockLength = blockLength
        self.key = SecretBytes(key)
    }

    /// Creates AES with a key of 16, 24 or 32 bytes (FIPS 197).
    public static func aes(_ key: [UInt8]) throws(CryptographyError) -> BlockCipher {
        guard [16, 24, 32].contains(key.count) else {
            throw CryptographyError(.wrongLength, "An AES key has 16, 24 or 32 bytes, not \(key.count).")
        }
        return BlockCipher(blockLength: 16, key: key)
    }

    /// Creates DES with a key of 8 bytes, or triple DES with a key of 16 or 24 bytes (NIST SP 800-67). In a key of 16
    /// bytes, the first 8 also serve as the third part.
    public static func des(_ key: [UInt8]) throws(CryptographyError) -> BlockCipher {
        switch key.count {
        case 8: BlockCipher(blockLength: 8, key: key + key + key)
        case 16: BlockCipher(blockLength: 8, key: key + key[..<8])
        case 24: BlockCipher(blockLength: 8, key: key)
        default: throw CryptographyError(.wrongLength, "A DES key has 8, 16 or 24 bytes, not \(key.count).")
        }
    }

    /// Encrypts any number of whole blocks. The result has the same length.
    public func encrypt(_ data: [UInt8], _ mode: Mode = .electronicCodebook) throws(CryptographyError) -> [UInt8] {
        try transform(data, mode, encrypts: true)
    }

    /// Decrypts any number of whole blocks. The result has the same length.
    public func decrypt(_ data: [UInt8], _ mode: Mode = .electronicCodebook) throws(CryptographyError) -> [UInt8] {
        try transform(data, mode, encrypts: false)
    }

    private func transform(_ data: [UInt8], _ mode: Mode, encrypts: Bool) throws(CryptographyError) -> [UInt8] {
        try LibCrypto.open()
        var vector = [UInt8](repeating: 0, count: blockLength)
        var chains = false
        if case .blockChaining(let given) = mode {
            vector = given
            chains = true
        }
        guard data.count.isMultiple(of: blockLength), vector.count == blockLength, let count = CInt(exactly: data.count)
        else { throw CryptographyError(.wrongLength, "Data and vector must be whole blocks of \(blockLength) bytes.") }
        // Single DES runs as triple DES with three equal keys, because OpenSSL 3 lacks single DES.
        let cipher =
            switch (blockLength, key.count) {
            case (16, 16): chains ? ocn_aes_128_cbc : ocn_aes_128_ecb
            case (16, 24): chains ? ocn_aes_192_cbc : ocn_aes_192_ecb
            case (16, _): chains ? ocn_aes_256_cbc : ocn_aes_256_ecb
            default: chains ? ocn_triple_des_cbc : ocn_triple_des_ecb
            }
        var output = [UInt8](repeating: 0, count: data.count)
        let isDone = unsafe key.withBytes { key in
            unsafe ocn_crypto_cipher(cipher, encrypts, key, vector, data, count, &output)
        }
        guard isDone else { throw CryptographyError(.refused, "libcrypto refused to encrypt or decrypt.") }
        return output
    }
}

extension BlockCipher {
    /// Computes the message authentication code CMAC (NIST SP 800-38B).
    ///
    /// - Parameters:
    ///   - message: any number of bytes.
    ///   - vector: the block to combine with the message's first block. Nil means zeros, as in the standard. For cards
    ///     that chain their MACs, pass the previous MAC.
    /// - Returns: one block. Protocols truncate it as they need.
    public func cmac(_ message: [UInt8], vector: [UInt8]? = nil) throws(CryptographyError) -> [UInt8] {
        let input = Self.cmacInput(message, encryptedZeros: try encrypt(zeros))
        return Array(try encrypt(input, .blockChaining(vector: vector ?? zeros)).suffix(blockLength))
    }

    /// Returns the blocks of a message that CMAC chains: the last one is padded and combined with a subkey.
    static func cmacInput(_ message: [UInt8], encryptedZeros: [UInt8]) -> [UInt8] {
        let (first, blockLength) = (doubled(encryptedZeros), encryptedZeros.count)
        let count = max(1, (message.count + blockLength - 1) / blockLength)
        let isWhole = message.count == count * blockLength
        var padded = message
        if !isWhole {
            padded.append(0x80)
            padded += Array(repeating: 0, count: count * blockLength - padded.count)
        }
        let mask = isWhole ? first : doubled(first)
        let start = padded.count - blockLength
        for index in 0..<blockLength { padded[start + index] ^= mask[index] }
        return padded
    }

    /// Doubles a block (SP 800-38B, 5.3). The polynomial ends in 87 for 16-byte blocks and in 1B for 8-byte blocks.
    private static func doubled(_ block: [UInt8]) -> [UInt8] {
        var result = block
        var carry: UInt8 = 0
        for index in block.indices.reversed() {
            result[index] = block[index] << 1 | carry
            carry = block[index] >> 7
        }
        if carry == 1, let last = result.indices.last { result[last] ^= block.count == 16 ? 0x87 : 0x1B }
        return result
    }

    /// Computes the message authentication code of ISO/IEC 9797-1, algorithm 3, with DES. ICAO 9303 calls it the retail
    /// MAC.
    ///
    /// - Parameters:
    ///   - message: whole blocks of 8 bytes. The caller does the padding.
    ///   - key: 16 bytes.
    /// - Returns: 8 bytes.
    public static func retailMAC(_ message: [UInt8], key: [UInt8]) throws(CryptographyError) -> [UInt8] {
        guard key.count == 16, !message.isEmpty else {
            throw CryptographyError(.wrongLength, "A retail MAC needs a 16-byte key and at least one block.")
        }
        let first = try BlockCipher.des(Array(key[..<8]))
        let second = try BlockCipher.des(Array(key[8...]))
        let zero = [UInt8](repeating: 0, count: 8)
        let chained = try first.encrypt(message, .blockChaining(vector: zero))
        return try first.encrypt(try second.decrypt(Array(chained.suffix(8))))
    }
}

/// Why data could not be encrypted, hashed or signed.
public struct CryptographyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable {
        /// OpenSSL's libcrypto is not installed.
        case libraryMissing
        /// The length of a key, an initialisation vector or the data does not fit the cipher.
        case wrongLength
        /// The library refused the operation.
        case refused
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence that explains the failure and what to do.
    public var reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }
}

/// OpenSSL's libcrypto, opened when first needed. So the package builds and runs where the library is absent.
enum LibCrypto {
    /// Opens the library; later calls do nothing.
    static func open() throws(CryptographyError) {
        try check(missing: unsafe ocn_crypto_missing().map { unsafe String(cString: $0) })
    }

    /// Throws if something is missing.
    ///
    /// - Parameter name: the missing function; empty if the whole library is missing, nil if nothing is.
    static func check(missing name: String?) throws(CryptographyError) {
        guard let name else { return }
        throw CryptographyError(
            .libraryMissing,
            name.isEmpty
                ? "OpenSSL's libcrypto.so.3 is not installed. Install it with: apt-get install libssl3"
                : "The system's libcrypto lacks \(name). OpenSSL 3 or 1.1.1 is required."
        )
    }
}
