// SPDX-License-Identifier: Apache-2.0
package import CardCryptography
import TagLink

/// The secure messaging of NTAG 424 DNA and of DESFire from EV2 on, after AUTHENTICATE EV2 FIRST and NON FIRST.
///
/// Every MAC covers a transaction identifier and a command counter (NT4H2421Gx data sheet, 9.1 and 9.2).
package struct EV2Messaging: SecureMessaging, Hashable {
    /// TI, 4 bytes. It stays the same until the next AUTHENTICATE EV2 FIRST.
    package var transaction: [UInt8] { codes.transaction }
    /// CmdCtr, the number of commands since AUTHENTICATE EV2 FIRST.
    package private(set) var counter: UInt16

    private var codes: EV2Codes

    package init(_ codes: EV2Codes, counter: UInt16 = 0) {
        self.codes = codes
        self.counter = counter
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
        guard let plain = try? codes.decrypt(body, counter, isAnswer: false).withoutMark else { throw .integrityError }
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
            guard let enciphered = try? codes.encrypt(data.paddedWithMark(to: 16), counter, isAnswer: true) else {
                throw .integrityError
            }
            body = enciphered
        case .command, .markedCommand, .answer, .standard: break
        }
        return body + (try code(status, body))
    }

    private func code(_ command: UInt8, _ data: [UInt8]) throws(DESFireStatus) -> [UInt8] {
        guard let code = try? codes.mac(command, counter, data) else { throw .integrityError }
        return code
    }
}
