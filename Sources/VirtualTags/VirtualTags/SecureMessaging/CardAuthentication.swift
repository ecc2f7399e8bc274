// SPDX-License-Identifier: Apache-2.0
import CardCryptography

/// An authentication in progress: the card sent its challenge and waits for the reader's proof.
package struct CardAuthentication: Sendable {
    /// The scheme by which both sides prove that they know the key.
    package enum Scheme: UInt8, Sendable {
        /// AUTHENTICATE of the first MIFARE DESFire: the card only encrypts, and the reader only decrypts.
        case legacy = 0x0A
        /// AUTHENTICATE ISO: triple DES. CBC chaining continues from message to message.
        case iso = 0x1A
        case aes = 0xAA
        /// AUTHENTICATE EV2 FIRST or LRP FIRST, which starts a transaction.
        case ev2First = 0x71
        /// AUTHENTICATE EV2 NON FIRST or LRP NON FIRST, which changes the key within a transaction.
        case ev2NonFirst = 0x77

        /// Returns the length of the command's data: the key number; for EV2 FIRST also the capabilities.
        func length(of data: [UInt8]) -> Int {
            guard self == .ev2First, data.count > 1 else { return self == .ev2First ? 2 : 1 }
            return 2 + Int(data[1])
        }

        func takes(_ kind: DESFireKey.Kind) -> Bool {
            switch self {
            case .legacy: kind == .des
            case .iso: kind != .aes
            case .aes, .ev2First, .ev2NonFirst: kind == .aes
            }
        }
    }

    let scheme: Scheme
    let number: UInt8
    private let key: DESFireKey
    @Hidden private var challenge: [UInt8]
    /// PCDcap2, 6 bytes: the reader's capabilities, which the card's answer to ``Scheme/ev2First`` repeats.
    private let capabilities: [UInt8]
    private let usesLRP: Bool
    /// The proof for the schemes that chain their messages, ``Scheme/iso`` and ``Scheme/aes``.
    private let chain: ChallengeProof?
    /// RndB as sent to the reader: encrypted; in LRP mode plain, after the mode.
    package let sent: [UInt8]

    /// Starts an authentication. The scheme must accept the key's kind. DES with one or two keys uses only the first 8
    /// of the challenge's 16 bytes.
    ///
    /// Without the system's OpenSSL, the challenge is sent unencrypted, and the authentication will fail.
    package init(
        _ scheme: Scheme,
        number: UInt8,
        key: DESFireKey,
        challenge: [UInt8],
        capabilities: [UInt8] = [],
        usesLRP: Bool = false
    ) {
        self.usesLRP = usesLRP
        self.capabilities = Array((capabilities + [0, 0, 0, 0, 0, 0]).prefix(6))
        self.scheme = scheme
        self.number = number
        self.key = key
        let challenge = Array(challenge.prefix(key.kind == .des ? 8 : 16))
        self.challenge = challenge
        chain = (try? key.cipher()).map { ChallengeProof(cipher: $0, challenge: challenge) }
        sent = usesLRP ? [0x01] + challenge : chain?.sent ?? challenge
    }

    /// Checks the reader's proof. Returns the card's own proof, and the protection of later messages.
    /// ``Scheme/ev2First`` starts a transaction; ``Scheme/ev2NonFirst`` continues the previous session.
    ///
    /// - Throws: `authenticationError` or `lengthError`.
    package func finish(
        _ proof: [UInt8],
        transaction: [UInt8] = [],
        session: EV2Messaging? = nil
    ) throws(DESFireStatus) -> (answer: [UInt8], session: any SecureMessaging) {
        guard proof.count == 2 * challenge.count else { throw .lengthError }
        guard let cipher = try? key.cipher() else { throw .authenticationError }
        let zero = [UInt8](repeating: 0, count: cipher.blockLength)
        switch scheme {
        case .legacy:
            let readerChallenge = try checked((try? cipher.encrypt(proof))?.combined(with: zero + proof))
            guard let session = try? sessionCipher(readerChallenge),
                let answer = try? cipher.encrypt(readerChallenge.rotated)
            else { throw .integrityError }
            return (answer, DESFireMessaging(cipher: session, isLegacy: true))
        case .iso, .aes:
            guard let proven = try? chain?.finish(proof) else { throw .authenticationError }
            guard let session = try? sessionCipher(proven.readerChallenge) else { throw .integrityError }
            return (proven.answer, DESFireMessaging(cipher: session))
        case .ev2First, .ev2NonFirst:
            let isFirst = scheme == .ev2First
            let readerChallenge =
                usesLRP
                ? Array(proof[..<16]) : try checked(try? cipher.decrypt(proof, .blockChaining(vector: zero)))
            let codes = try? EV2Codes(
                key: key.bytes,
                readerChallenge: readerChallenge,
                cardChallenge: challenge,
                transaction: isFirst ? transaction : session?.transaction ?? transaction,
                usesLRP: usesLRP
            )
            guard var codes else { throw .integrityError }
            if usesLRP {
                guard let expected = try? codes.proof(readerChallenge + challenge),
                    ConstantTime.areEqual(expected, proof[16...])
                else { throw .authenticationError }
            }
            guard let answer = try? transactionAnswer(readerChallenge, cipher, &codes) else { throw .integrityError }
            return (answer, EV2Messaging(codes, counter: isFirst ? 0 : session?.counter ?? 0))
        }
    }

    /// Returns the reader's challenge from a decrypted proof. The card's challenge must follow it, rotated.
    private func checked(_ challenges: [UInt8]?) throws(DESFireStatus) -> [UInt8] {
        guard let challenges, ConstantTime.areEqual(challenges[challenge.count...], challenge.rotated) else {
            throw .authenticationError
        }
        return Array(challenges[..<challenge.count])
    }

    /// Returns the card's proof. For ``Scheme/ev2First``, it contains TI and the capabilities of both sides: PDCap2, of
    /// which this card has LRP at most, and PCDCap2.
    private func transactionAnswer(
        _ readerChallenge: [UInt8],
        _ cipher: BlockCipher,
        _ codes: inout EV2Codes
    ) throws(CryptographyError) -> [UInt8] {
        let isFirst = scheme == .ev2First
        let mode: [UInt8] = [usesLRP ? 0x02 : 0x00, 0, 0, 0, 0, 0]
        guard usesLRP else {
            let rotated = readerChallenge.rotated
            let answer = isFirst ? codes.transaction + rotated + mode + capabilities : rotated
            return try cipher.encrypt(answer, .blockChaining(vector: cipher.zeros))
        }
        let data = isFirst ? try codes.encrypt(codes.transaction + mode + capabilities, 0, isAnswer: true) : []
        return data + (try codes.proof(challenge + readerChallenge + data))
    }

    /// Derives the session key of DESFire up to EV1: alternating parts of both challenges.
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
