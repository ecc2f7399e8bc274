// SPDX-License-Identifier: Apache-2.0
import CardCryptography

/// An authentication that has begun: the card has sent its challenge, and waits for the reader's proof.
package struct CardAuthentication: Sendable {
    /// How both sides prove that they know the key.
    package enum Scheme: UInt8, Sendable {
        /// AUTHENTICATE of the first MIFARE DESFire: the card enciphers, and the reader deciphers.
        case legacy = 0x0A
        /// AUTHENTICATE ISO: triple DES in CBC from message to message.
        case iso = 0x1A
        /// AUTHENTICATE AES: the same with AES.
        case aes = 0xAA
        /// AUTHENTICATE EV2 FIRST, which begins a transaction.
        case ev2First = 0x71
        /// AUTHENTICATE EV2 NON FIRST, which changes the key within one.
        case ev2NonFirst = 0x77

        /// How long the command's data are: a key's number, and what the reader can do, which says its own length.
        func length(of data: [UInt8]) -> Int {
            guard self == .ev2First, data.count > 1 else { return self == .ev2First ? 2 : 1 }
            return 2 + Int(data[1])
        }

        /// Whether a key is of the kind that the command is for.
        func takes(_ kind: DESFireKey.Kind) -> Bool {
            switch self {
            case .legacy: kind == .des
            case .iso: kind != .aes
            case .aes, .ev2First, .ev2NonFirst: kind == .aes
            }
        }
    }

    /// How both sides prove that they know the key.
    let scheme: Scheme
    /// The key's number.
    let number: UInt8
    private let key: DESFireKey
    /// RndB.
    @Hidden private var challenge: [UInt8]
    /// PCDcap2, 6 octets: what the reader says that it can.
    private let capabilities: [UInt8]
    /// RndB as it was sent.
    package let sent: [UInt8]

    /// Begins an authentication.
    ///
    /// Without the system's library what is sent is the challenge as it is, which no reader can make anything of.
    ///
    /// - Parameters:
    ///   - scheme: how both sides prove that they know the key.
    ///   - number: the key's number.
    ///   - key: the key, of a kind that the scheme takes.
    ///   - challenge: 16 octets, of which DES with up to two keys takes 8.
    ///   - capabilities: what the reader says that it can, which ``Scheme/ev2First`` sends back.
    package init(
        _ scheme: Scheme,
        number: UInt8,
        key: DESFireKey,
        challenge: [UInt8],
        capabilities: [UInt8] = []
    ) {
        self.capabilities = Array((capabilities + [0, 0, 0, 0, 0, 0]).prefix(6))
        self.scheme = scheme
        self.number = number
        self.key = key
        let challenge = Array(challenge.prefix(key.kind == .des ? 8 : 16))
        self.challenge = challenge
        let zero = [UInt8](repeating: 0, count: key.kind == .aes ? 16 : 8)
        sent = (try? key.cipher().encrypt(challenge, .blockChaining(vector: zero))) ?? challenge
    }

    /// Checks the reader's proof.
    ///
    /// - Parameters:
    ///   - proof: what the reader sent.
    ///   - transaction: the transaction identifier that ``Scheme/ev2First`` begins.
    ///   - session: the session before, which ``Scheme/ev2NonFirst`` goes on with.
    /// - Returns: the card's own proof, and what protects messages from here on.
    /// - Throws: `authenticationError` when the proof is wrong, `lengthError`.
    package func finish(
        _ proof: [UInt8],
        transaction: [UInt8] = [],
        session: EV2Messaging? = nil
    ) throws(DESFireStatus) -> (answer: [UInt8], session: any SecureMessaging) {
        guard proof.count == 2 * challenge.count else { throw .lengthError }
        let cipher: BlockCipher
        let both: [UInt8]
        do throws(CryptographyError) {
            cipher = try key.cipher()
            both = try decipher(proof, cipher)
        } catch {
            throw .authenticationError
        }
        guard ConstantTime.areEqual(both[challenge.count...], challenge.rotated) else { throw .authenticationError }
        return try ciphered { () throws(CryptographyError) in
            try finish(Array(both[..<challenge.count]), proof, cipher, transaction, session)
        }
    }

    private func decipher(_ proof: [UInt8], _ cipher: BlockCipher) throws(CryptographyError) -> [UInt8] {
        let zero = [UInt8](repeating: 0, count: cipher.blockLength)
        switch scheme {
        case .legacy: return try cipher.encrypt(proof).combined(with: zero + proof)
        case .iso, .aes:
            return try cipher.decrypt(proof, .blockChaining(vector: Array(sent.suffix(cipher.blockLength))))
        case .ev2First, .ev2NonFirst: return try cipher.decrypt(proof, .blockChaining(vector: zero))
        }
    }

    private func finish(
        _ readerChallenge: [UInt8],
        _ proof: [UInt8],
        _ cipher: BlockCipher,
        _ transaction: [UInt8],
        _ session: EV2Messaging?
    ) throws(CryptographyError) -> (answer: [UInt8], session: any SecureMessaging) {
        let zero = [UInt8](repeating: 0, count: cipher.blockLength)
        let turned = readerChallenge.rotated
        switch scheme {
        case .legacy:
            return (try cipher.encrypt(turned), LegacyMessaging(cipher: try sessionCipher(readerChallenge)))
        case .iso, .aes:
            let vector = Array(proof.suffix(cipher.blockLength))
            let answer = try cipher.encrypt(turned, .blockChaining(vector: vector))
            return (answer, ChainedMessaging(cipher: try sessionCipher(readerChallenge)))
        case .ev2First, .ev2NonFirst:
            let isFirst = scheme == .ev2First
            let messaging = try EV2Messaging(
                key: cipher,
                readerChallenge: readerChallenge,
                cardChallenge: challenge,
                transaction: isFirst ? transaction : session?.transaction ?? transaction,
                counter: isFirst ? 0 : session?.counter ?? 0
            )
            // PDcap2 is zero: the card has no other capabilities.
            let answer = isFirst ? transaction + turned + [0, 0, 0, 0, 0, 0] + capabilities : turned
            return (try cipher.encrypt(answer, .blockChaining(vector: zero)), messaging)
        }
    }

    /// The session key of DESFire up to EV1: parts of both challenges in turns.
    private func sessionCipher(_ readerChallenge: [UInt8]) throws(CryptographyError) -> BlockCipher {
        func part(_ start: Int) -> [UInt8] {
            Array(readerChallenge[start..<(start + 4)] + challenge[start..<(start + 4)])
        }
        switch key.kind {
        case .aes: return try .aes(part(0) + part(12))
        case .tripleDES: return try .des(part(0) + part(6) + part(12))
        case .des: return try .des(key.isSingleDES ? part(0) + part(0) : part(0) + part(4))
        }
    }
}
