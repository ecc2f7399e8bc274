// SPDX-License-Identifier: Apache-2.0

/// The tag's half of a mutual authentication by triple DES or AES in CBC: AUTHENTICATE of MIFARE Ultralight C, and
/// AUTHENTICATE ISO and AES of MIFARE DESFire (MF0ICU2 data sheet, 7.5.5; MF3ICD81 data sheet, 9.4).
///
/// The tag sends its challenge. The reader proves that it knows the key with its own challenge and the tag's rotated one. The
/// tag answers with the reader's challenge, rotated. Each message goes on with the chain of the one before.
package struct ChallengeProof: Sendable {
    private let cipher: BlockCipher
    @Hidden private var challenge: [UInt8]
    /// The challenge as it is sent.
    package let sent: [UInt8]

    /// Begins an authentication.
    ///
    /// If the system's library is missing, the challenge is sent as it is, and no proof of it is ever right.
    ///
    /// - Parameters:
    ///   - cipher: the cipher with the key.
    ///   - challenge: random bytes, in whole blocks.
    package init(cipher: BlockCipher, challenge: [UInt8]) {
        self.cipher = cipher
        self.challenge = challenge
        let zero = [UInt8](repeating: 0, count: cipher.blockLength)
        sent = (try? cipher.encrypt(challenge, .blockChaining(vector: zero))) ?? challenge
    }

    /// Checks the reader's proof.
    ///
    /// - Parameter proof: what the reader sent: twice as many bytes as the challenge.
    /// - Returns: the reader's challenge and the tag's answer; nil if the proof is wrong.
    /// - Throws: ``CryptographyError`` with `libraryMissing` or `refused`.
    package func finish(
        _ proof: [UInt8]
    ) throws(CryptographyError) -> (readerChallenge: [UInt8], answer: [UInt8])? {
        guard proof.count == 2 * challenge.count else { return nil }
        let both = try cipher.decrypt(proof, .blockChaining(vector: Array(sent.suffix(cipher.blockLength))))
        guard ConstantTime.areEqual(both[challenge.count...], challenge.rotated) else { return nil }
        let readerChallenge = Array(both[..<challenge.count])
        let vector = Array(proof.suffix(cipher.blockLength))
        return (readerChallenge, try cipher.encrypt(readerChallenge.rotated, .blockChaining(vector: vector)))
    }
}

extension [UInt8] {
    /// The first byte moved behind the last, as a proof repeats a challenge.
    package var rotated: [UInt8] { Array(dropFirst() + prefix(1)) }
}
