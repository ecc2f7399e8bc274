// SPDX-License-Identifier: Apache-2.0

extension Type2Silicon {
    /// An octet of the configuration pages, or 0 when the product has none.
    func configuration(_ page: Int, _ octet: Int) -> UInt8 {
        guard let start = product.configurationPage else { return 0 }
        return contents.memory[(start + page) * 4 + octet]
    }

    /// The ACCESS octet: PROT, CFGLCK, counter bits and AUTHLIM.
    var configurationAccess: UInt8 { configuration(1, 0) }

    /// Takes over which pages need authentication: with an activation on Ultralight C, after each write on the others.
    mutating func latchProtection() {
        latched.protectionStart = Int.max
        latched.protectsReading = false
        if product.features.contains(.tripleDES) {
            // AUTH0 in page 42 from 30h on protects nothing; AUTH1 bit 0 leaves reading free.
            let start = Int(contents.memory[42 * 4])
            if start < 0x30 {
                latched.protectionStart = max(start, 3)
                latched.protectsReading = contents.memory[43 * 4] & 1 == 0
            }
        } else if product.features.contains(.password) {
            let start = Int(configuration(0, 3))
            if start < product.pageCount {
                latched.protectionStart = start
                latched.protectsReading = configurationAccess & 0x80 != 0
            }
        }
    }

    /// PWD_AUTH: the password opens the tag, and PACK comes back (NTAG213/215/216 data sheet, 8.8 and 10.7).
    ///
    /// AUTHLIM is the number of wrong passwords in a row after which none is taken any more; 0 is no limit.
    mutating func authenticate(_ password: [UInt8]) -> Reply {
        guard let start = product.configurationPage else { return .refusal(.argument) }
        let limit = Int(configurationAccess & 0x07)
        if limit > 0, contents.failedAuthentications >= limit { return .refusal(.authenticationOrCounter) }
        guard password[...] == contents.memory[((start + 2) * 4)..<((start + 3) * 4)] else {
            if limit > 0 { contents.failedAuthentications += 1 }
            return .refusal(.argument)
        }
        contents.failedAuthentications = 0
        isAuthenticated = true
        return .data(Array(contents.memory[((start + 3) * 4)..<((start + 3) * 4 + 2)]))
    }

    /// AUTHENTICATE of Ultralight C, first half: a challenge (MF0ICU2 data sheet, 7.6.7). The cipher is not there, so
    /// the second half is always refused.
    mutating func beginTripleDES(_ argument: UInt8) -> Reply {
        guard argument == 0 else { return .refusal(.argument) }
        pending = .tripleDES
        var challenge: [UInt8] = [0xAF]
        for _ in 0..<8 { challenge.append(UInt8.random(in: 0...255)) }
        return .data(challenge)
    }
}
