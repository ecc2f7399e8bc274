// SPDX-License-Identifier: Apache-2.0
import CardCryptography
package import TagLink

/// Executes commands of a MIFARE Classic over a link that carries frames unchanged, with the cipher in software. The
/// commands are those of `FrameLink.authenticatesClassic`.
package final class ClassicCommands: Sendable {
    private let state = Locked<(cipher: Crypto1?, authentication: [UInt8])>((nil, []))

    package init() {}

    /// The command of the authentication that is in force; nil for none.
    package var authentication: [UInt8]? { state.withLock { $0.cipher == nil ? nil : $0.authentication } }

    /// Forgets the authentication, because the card was activated again.
    package func wasActivated() { state.withLock { $0.cipher = nil } }

    /// Executes a command.
    ///
    /// - Returns: the bytes that were read, ACK, or a NAK, after which the card must be activated again.
    /// - Throws: `LinkError` with `timeout` after a wrong key, `transmission` if the card does not know the key itself,
    ///   and the errors of the link. After an error the card must be activated again.
    package func execute(
        _ command: [UInt8],
        over link: any FrameLink,
        timeout: Airtime = .milliseconds(20)
    ) async throws(LinkError) -> Frame {
        let answer: Frame
        do throws(LinkError) {
            switch (command.first, command.count) {
            case (0x60, 12), (0x61, 12): answer = try await authenticate(command, link, timeout)
            case (0xA0, 18), (0xC0, 6), (0xC1, 6), (0xC2, 6):
                let first = try await exchange(Array(command.prefix(2)), link, timeout)
                answer = first.nibble == 0xA ? try await finish(command, link, timeout) : first
            default: answer = try await exchange(command, link, timeout)
            }
        } catch {
            wasActivated()
            throw error
        }
        if answer.nibble ?? 0xA != 0xA { wasActivated() }
        return answer
    }

    /// Sends the second part of a command. The card confirms a value by silence (MF1S50yyX data sheet, 12.4).
    private func finish(_ command: [UInt8], _ link: any FrameLink, _ timeout: Airtime) async throws(LinkError) -> Frame
    {
        do throws(LinkError) {
            return try await exchange(Array(command.dropFirst(2)), link, timeout)
        } catch {
            guard command[0] != 0xA0, error.code == .timeout else { throw error }
            return .acknowledge
        }
    }

    /// Authenticates in three passes (MF1S50yyX data sheet, 10.1). In an authenticated sector, the nonce is encrypted.
    private func authenticate(
        _ command: [UInt8],
        _ link: any FrameLink,
        _ timeout: Airtime
    ) async throws(LinkError) -> Frame {
        let isNested = authentication != nil
        let challenge = try await send(Array(command.prefix(2)), link, timeout)
        guard challenge.bitCount == 32 else {
            let refusal = decrypted(challenge)
            guard refusal.nibble != 0xA else {
                throw LinkError(.transmission, "The card acknowledges an authentication without a nonce.")
            }
            return refusal
        }
        var cipher = Crypto1(key: Array(command[2..<8]))
        let other = cipher.feed(challenge.bytes, uid: Array(command[8..<12]), isEncrypted: isNested)
        let nonce = isNested ? other : challenge.bytes
        let proof = cipher.feed((0..<4).map { _ in UInt8.random(in: 0...255) }, isEncrypted: false)
        let answer = cipher.apply(to: Crypto1.successor(of: nonce, steps: 64))
        let confirmation = try await link.transceive(Frame(proof + answer, checksum: .none), timeout: timeout)
        guard cipher.apply(to: confirmation.bytes) == Crypto1.successor(of: nonce, steps: 96) else {
            throw LinkError(.transmission, "The card did not prove that it knows the key.")
        }
        state.withLock { [cipher] in $0 = (cipher, command) }
        return .acknowledge
    }

    private func exchange(_ command: [UInt8], _ link: any FrameLink, _ timeout: Airtime) async throws(LinkError)
        -> Frame
    {
        let answer = decrypted(try await send(command, link, timeout))
        guard answer.bitCount != 4 else { return answer }
        let bytes = Array(answer.bytes.dropLast(2))
        guard answer.validBitsInLastByte == 8, Technology.nfcA.checksum(bytes) == Array(answer.bytes.suffix(2)) else {
            throw LinkError(.transmission, "The checksum of the answer is wrong.")
        }
        return Frame(bytes)
    }

    /// Sends a command with its checksum, encrypted in an authenticated sector.
    private func send(_ command: [UInt8], _ link: any FrameLink, _ timeout: Airtime) async throws(LinkError) -> Frame {
        let bytes = command + Technology.nfcA.checksum(command)
        let encrypted = state.withLock { $0.cipher?.apply(to: bytes) } ?? bytes
        return try await link.transceive(Frame(encrypted, checksum: .none), timeout: timeout)
    }

    private func decrypted(_ frame: Frame) -> Frame {
        var frame = frame
        let bits = frame.validBitsInLastByte
        if let bytes = state.withLock({ $0.cipher?.apply(to: frame.bytes, bits: bits) }) { frame.bytes = bytes }
        return frame
    }
}
