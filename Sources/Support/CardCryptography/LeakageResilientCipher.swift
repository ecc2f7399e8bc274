// SPDX-License-Identifier: Apache-2.0

/// The leakage resilient primitive (LRP) of NTAG 424 DNA, built on AES-128 (NXP AN12304, with 4 bits at a time).
///
/// Each AES key encrypts only a few blocks, so that a side channel reveals little about it. All functions throw
/// ``CryptographyError`` with `wrongLength`, `libraryMissing` or `refused`.
package struct LeakageResilientCipher: Sendable, Hashable {
    /// The secret plaintext of each nibble.
    private let plaintexts: [SecretBytes]
    private let updatedKey: SecretBytes

    /// Derives the plaintexts and an updated key (algorithms 1 and 2).
    ///
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - number: the number of the updated key: 0 for MACs, 1 for the encryption of a session.
    package init(_ key: [UInt8], updatedKey number: Int = 0) throws(CryptographyError) {
        let (step, output) = ([UInt8](repeating: 0x55, count: 16), [UInt8](repeating: 0xAA, count: 16))
        func derive(_ count: Int, from start: [UInt8]) throws(CryptographyError) -> [SecretBytes] {
            var cipher = try BlockCipher.aes(try BlockCipher.aes(key).encrypt(start))
            var results: [SecretBytes] = []
            for _ in 0..<count {
                results.append(SecretBytes(try cipher.encrypt(output)))
                cipher = try .aes(try cipher.encrypt(step))
            }
            return results
        }
        plaintexts = try derive(16, from: step)
        updatedKey = try derive(number + 1, from: output)[number]
    }

    /// Evaluates the primitive for the nibbles of some bytes, with the final step (algorithm 3). Returns one block.
    package func evaluate(_ input: [UInt8]) throws(CryptographyError) -> [UInt8] {
        var state = updatedKey.bytes
        for byte in input {
            for nibble in [byte >> 4, byte & 0x0F] {
                state = try BlockCipher.aes(state).encrypt(plaintexts[Int(nibble)].bytes)
            }
        }
        let cipher = try BlockCipher.aes(state)
        return try cipher.encrypt(cipher.zeros)
    }

    /// Encrypts whole blocks (LRICB, algorithm 4). Each block has its own counter, high byte first.
    package func encrypt(_ data: [UInt8], counter: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try transform(data, counter) { cipher, block throws(CryptographyError) in try cipher.encrypt(block) }
    }

    /// Decrypts whole blocks (LRICB, algorithm 5).
    package func decrypt(_ data: [UInt8], counter: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try transform(data, counter) { cipher, block throws(CryptographyError) in try cipher.decrypt(block) }
    }

    private func transform(
        _ data: [UInt8],
        _ counter: [UInt8],
        _ operation: (BlockCipher, [UInt8]) throws(CryptographyError) -> [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        var (counter, result) = (counter, [UInt8]())
        for start in stride(from: 0, to: data.count, by: 16) {
            let cipher = try BlockCipher.aes(evaluate(counter))
            result += try operation(cipher, Array(data[start...].prefix(16)))
            for index in counter.indices.reversed() {
                counter[index] &+= 1
                if counter[index] != 0 { break }
            }
        }
        return result
    }

    /// Computes CMAC with the primitive in place of a block cipher (algorithm 6). Returns one block.
    package func cmac(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 16)
        let input = BlockCipher.cmacInput(message, encryptedZeros: try evaluate(code))
        for start in stride(from: 0, to: input.count, by: 16) {
            code = try evaluate(zip(code, input[start...]).map { $0 ^ $1 })
        }
        return code
    }
}
