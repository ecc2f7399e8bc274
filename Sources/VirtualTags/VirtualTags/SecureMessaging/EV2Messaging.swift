// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
import TagLink

/// The secure messaging of NTAG 424 DNA and of DESFire from EV2 on, after AUTHENTICATE EV2 FIRST and NON FIRST.
///
/// It uses AES. Every MAC covers a transaction identifier and a command counter (NT4H2421Gx data sheet, 9.1).
package struct EV2Messaging: SecureMessaging {
    /// The key for encryption.
    package var encryptionKey: [UInt8] { secretEncryptionKey.bytes }
    /// The key for MACs.
    package var codeKey: [UInt8] { secretCodeKey.bytes }
    /// TI, 4 bytes. It stays the same until the next AUTHENTICATE EV2 FIRST.
    package let transaction: [UInt8]
    /// CmdCtr, the number of commands since AUTHENTICATE EV2 FIRST.
    package private(set) var counter: UInt16

    private let secretEncryptionKey: SecretBytes
    private let secretCodeKey: SecretBytes
    private let encryption: BlockCipher
    private let authentication: BlockCipher

    /// Starts or continues a transaction.
    ///
    /// - Throws: ``CryptographyError`` with `wrongLength` when a key is not 16 bytes long.
    package init(
        encryptionKey: [UInt8],
        codeKey: [UInt8],
        transaction: [UInt8],
        counter: UInt16 = 0
    ) throws(CryptographyError) {
        secretEncryptionKey = SecretBytes(encryptionKey)
        secretCodeKey = SecretBytes(codeKey)
        self.transaction = transaction
        self.counter = counter
        encryption = try .aes(encryptionKey)
        authentication = try .aes(codeKey)
    }

    /// Starts or continues a transaction with keys derived from both challenges.
    init(
        key: BlockCipher,
        readerChallenge: [UInt8],
        cardChallenge: [UInt8],
        transaction: [UInt8],
        counter: UInt16
    ) throws(CryptographyError) {
        var context = Array(readerChallenge[..<2])
        context += Array(readerChallenge[2..<8]).combined(with: cardChallenge[..<6])
        context += cardChallenge[6...] + readerChallenge[8...]
        try self.init(
            encryptionKey: try key.cmac([0xA5, 0x5A, 0x00, 0x01, 0x00, 0x80] + context),
            codeKey: try key.cmac([0x5A, 0xA5, 0x00, 0x01, 0x00, 0x80] + context),
            transaction: transaction,
            counter: counter
        )
    }

    package func protectedLength(_ length: Int, _ mode: CommunicationMode) -> Int {
        switch mode {
        case .plain: length
        case .maced: length + 8
        case .enciphered: (length / 16 + 1) * 16 + 8
        }
    }

    package mutating func open(
        _ command: UInt8,
        _ data: [UInt8],
        _ protection: Protection
    ) throws(DESFireStatus) -> [UInt8] {
        var header = data.count
        switch protection {
        case .command(.plain, _, _), .answer(.plain, _): return data
        case .command(.enciphered, let length, _), .markedCommand(let length): header = length
        case .command, .answer, .standard: break
        }
        guard data.count >= 8 else { throw .integrityError }
        let bytes = Array(data.dropLast(8))
        guard ConstantTime.areEqual(try code(command, bytes), data.suffix(8)) else { throw .integrityError }
        guard header < bytes.count else { return bytes }
        let body = Array(bytes[header...])
        guard body.count.isMultiple(of: 16), let vector = try? vector([0xA5, 0x5A]),
            let plain = try? encryption.decrypt(body, .blockChaining(vector: vector)).withoutMark
        else { throw .integrityError }
        return Array(bytes[..<header]) + plain
    }

    package mutating func openKey(
        _ number: UInt8,
        _ cryptogram: [UInt8],
        _ kind: DESFireKey.Kind,
        replacing old: DESFireKey?
    ) throws(DESFireStatus) -> DESFireKey {
        let sent = try open(0xC4, [number] + cryptogram, .command(.enciphered, header: 1, length: 0)).dropFirst()
        guard sent.count == kind.length + (kind == .aes ? 1 : 0) + (old == nil ? 0 : 4) else { throw .lengthError }
        return try DESFireKey(kind, sent: Array(sent), replacing: old) { bytes in
            bytes.desfireCRC32 == Array(sent.suffix(4))
        }
    }

    package mutating func seal(
        _ data: [UInt8],
        _ protection: Protection,
        status: UInt8
    ) throws(DESFireStatus) -> [UInt8] {
        counter &+= 1
        var body = data
        switch protection {
        case .command(.plain, _, _), .answer(.plain, _): return data
        case .answer(.enciphered, _) where !data.isEmpty:
            guard let vector = try? vector([0x5A, 0xA5]),
                let enciphered = try? encryption.encrypt(data.paddedWithMark(to: 16), .blockChaining(vector: vector))
            else { throw .integrityError }
            body = enciphered
        case .command, .markedCommand, .answer, .standard: break
        }
        return body + (try code(status, body))
    }

    /// Returns the MAC of a command, or of an answer with its status: every second byte of a CMAC (9.1.3).
    private func code(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> [UInt8] {
        let message = [command] + counter.littleEndianBytes + transaction + data
        guard let whole = try? authentication.cmac(message) else { throw .integrityError }
        return whole.everySecond
    }

    /// Returns the initialisation vector of a command, label A55A, or of an answer, label 5AA5 (9.1.4).
    private func vector(_ label: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try encryption.encrypt(label + transaction + counter.littleEndianBytes + [UInt8](repeating: 0, count: 8))
    }
}
