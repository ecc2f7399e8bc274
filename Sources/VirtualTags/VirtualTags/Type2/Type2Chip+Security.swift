// SPDX-License-Identifier: Apache-2.0
import CardCryptography

extension Type2Chip {
    /// Returns a byte of the active configuration; 0 when the product has none.
    func configuration(_ page: Int, _ byte: Int) -> UInt8 {
        let index = page * 4 + byte
        return index < latched.configuration.count ? latched.configuration[index] : 0
    }

    /// The ACCESS byte: PROT, CFGLCK, counter bits and AUTHLIM.
    var configurationAccess: UInt8 { configuration(1, 0) }

    /// Activates the configuration in the memory, and the key of Ultralight C.
    ///
    /// A tag does this during its activation, so that a reader can write AUTH0 before the other pages that AUTH0
    /// protects. The password and PACK need no activation, because PWD_AUTH uses the memory.
    mutating func latchConfiguration() {
        latched.protectionStart = Int.max
        latched.protectsReading = false
        if product.features.contains(.tripleDES) {
            latched.key = Array(contents.memory[(44 * 4)..<(48 * 4)])
            // AUTH0 in page 42 protects nothing from 30h on. With bit 0 of AUTH1, reading is free.
            let start = Int(contents.memory[42 * 4])
            if start < 0x30 {
                latched.protectionStart = max(start, 3)
                latched.protectsReading = contents.memory[43 * 4] & 1 == 0
            }
        } else if product.features.contains(.password), let page = product.configurationPage {
            latched.configuration = Array(contents.memory[(page * 4)..<(page * 4 + 8)])
            let start = Int(configuration(0, 3))
            if start < product.pageCount {
                latched.protectionStart = start
                latched.protectsReading = configurationAccess & 0x80 != 0
            }
        }
    }

    /// PWD_AUTH: the right password gives access, and the answer is PACK (NTAG213/215/216 data sheet, 8.8 and 10.7).
    ///
    /// After AUTHLIM wrong passwords in a row, no password is accepted any more; 0 means no limit.
    mutating func authenticate(_ password: [UInt8]) -> Reply {
        guard let start = product.configurationPage else { return .refusal(.argument) }
        let limit = Int(configurationAccess & 0x07)
        if limit > 0, contents.failedAuthentications >= limit { return .refusal(.authenticationOrCounter) }
        guard ConstantTime.areEqual(password, contents.memory[((start + 2) * 4)..<((start + 3) * 4)]) else {
            if limit > 0 { contents.failedAuthentications += 1 }
            return .refusal(.argument)
        }
        contents.failedAuthentications = 0
        isAuthenticated = true
        return .data(Array(contents.memory[((start + 3) * 4)..<((start + 3) * 4 + 2)]))
    }

    /// AUTHENTICATE of Ultralight C, first command: answers with an encrypted challenge (MF0ICU2 data sheet, 7.5.5 and
    /// 7.6.7).
    ///
    /// Without the system's OpenSSL, the tag behaves as if its key were unknown.
    mutating func beginTripleDES(_ argument: UInt8) -> Reply {
        // The key is in pages 44 to 47, each half with its last byte first.
        guard argument == 0,
            let cipher = try? BlockCipher.des(latched.key.prefix(8).reversed() + latched.key.suffix(8).reversed())
        else { return .refusal(.argument) }
        isAuthenticated = false
        let authentication = ChallengeProof(cipher: cipher, challenge: random.bytes(8))
        pending = .tripleDES(authentication)
        return .data([0xAF] + authentication.sent)
    }

    /// AUTHENTICATE of Ultralight C, second command: checks the reader's proof, and answers with the tag's own.
    mutating func finishTripleDES(_ authentication: ChallengeProof, _ command: [UInt8]) -> Reply {
        guard command.first == 0xAF, let proven = try? authentication.finish(Array(command.dropFirst())) else {
            return .refusal(.argument)
        }
        isAuthenticated = true
        return .data([0x00] + proven.answer)
    }
}
