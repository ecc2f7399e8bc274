// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Glibc
import TestThreads
import Testing

/// Checks virtual cards while their process ends: their threads run until it is gone.
@Suite("The end of the process")
struct ProcessEndTests {
    @Test("leaves ciphers and hashes at work", .ownThreads)
    func leavesCiphersAtWork() async {
        await #expect(processExitsWith: .exitCode(42)) {
            // Handlers run in the reverse order: what libcrypto would do at the end comes before this one.
            atexit {
                let cipher = try? BlockCipher.aes([UInt8](repeating: 0, count: 16))
                let block = try? cipher?.encrypt([UInt8](repeating: 0, count: 16))
                // FIPS 197: the all-zero block under the all-zero key; FIPS 180-4: no message at all.
                let isEncrypted = block?.starts(with: [0x66, 0xE9, 0x4B, 0xD4]) == true
                let isHashed = (try? MessageDigest.sha1.hash([]))?.starts(with: [0xDA, 0x39, 0xA3, 0xEE]) == true
                _exit(isEncrypted && isHashed ? 42 : 1)
            }
            _ = try BlockCipher.aes([UInt8](repeating: 0, count: 16)).encrypt([UInt8](repeating: 0, count: 16))
            exit(2)
        }
    }
}
