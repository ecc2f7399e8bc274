// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

@testable import CardCryptography  // what the library lacks is checked inside

/// Keys in memory, and the system's library, which a process opens once: such a test has a process of its own.
struct SecretTests {
    private static let key: [UInt8] = Array(0xC0...0xCF)

    /// Whether no print and no dump of a value shows the key.
    private func hides(_ value: some Any) -> Bool {
        var text = "\(value)" + String(reflecting: value)
        dump(value, to: &text)
        return !["192", "c0c1", "207"].contains { text.lowercased().contains($0) }
    }

    /// Not private: the name of a private type has an address in it, in which the numbers of a key may be.
    struct Holder {
        @Hidden var key: [UInt8]
    }

    @Test func `secret key: not in any print or dump of a value that holds it`() throws {
        #expect(!hides(Self.key))
        #expect(hides(SecretBytes(Self.key)) && hides(Holder(key: Self.key)))
        #expect(hides(try BlockCipher.aes(Self.key)) && hides(SigningKey(encoded: Self.key)))
        #expect(hides(try FeliCaLiteCodes(cardKey: Self.key, challenge: [UInt8](repeating: 0, count: 16))))
    }

    @Test func `equality of secret keys and of MACs: decided by every byte and by the length`() {
        #expect(SecretBytes(Self.key) == SecretBytes(Self.key))
        #expect(SecretBytes(Self.key) != SecretBytes(Self.key.reversed()))
        #expect(SecretBytes(Self.key).bytes == Self.key && SecretBytes([]).count == 0)
        #expect(ConstantTime.areEqual(Self.key, Self.key[...]) && ConstantTime.areEqual([], []))
        #expect(!ConstantTime.areEqual(Self.key, Self.key.dropLast()))
        for index in Self.key.indices {
            var other = Self.key
            other[index] ^= 1
            #expect(!ConstantTime.areEqual(Self.key, other), "\(index)")
        }
    }

    @Test(.ownThreads) func `memory of a secret key: overwritten when the key is freed`() async {
        await #expect(processExitsWith: .success) {
            let key = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }
            var left = [UInt8](repeating: 0, count: key.count)
            let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
            var secret: SecretBytes? = SecretBytes(key)
            let place = unsafe secret?.withBytes { Int(bitPattern: $0) } ?? 0
            #expect(unsafe pread(memory, &left, left.count, place) == key.count)
            #expect(left == key)
            secret = nil
            // As the system sees it, because the memory is nobody's now.
            _ = unsafe pread(memory, &left, left.count, place)
            let equal = zip(left, key).filter { $0 == $1 }.count
            #expect(equal < 256)
        }
    }

    @Test(.ownThreads) func `OpenSSL library: loaded by the first use of a key or hash`() async {
        await #expect(processExitsWith: .success) {
            // Three bytes are no key, and that is said by the library.
            let error = #expect(throws: CryptographyError.self) {
                try SigningKey(encoded: [1, 2, 3]).sign([1], .sha256)
            }
            #expect(error?.code == .refused)
        }
        await #expect(processExitsWith: .success) { _ = try MessageDigest.sha1.hash([]) }
    }

    @Test(.ownThreads) func `OpenSSL that can't be loaded: libraryMissing, with the command that installs it`() async {
        await #expect(processExitsWith: .success) {
            // Nothing is missing where something else has brought the library already.
            guard unsafe dlopen("libcrypto.so.3", RTLD_NOW | RTLD_NOLOAD) == nil else { return }
            var limit = rlimit()
            let descriptors = __rlimit_resource_t(7)
            #expect(unsafe getrlimit(descriptors, &limit) == 0)
            let usual = limit.rlim_cur
            // No file can be opened now.
            limit.rlim_cur = 0
            #expect(unsafe setrlimit(descriptors, &limit) == 0)
            let error = #expect(throws: CryptographyError.self) { try MessageDigest.sha256.hash([]) }
            limit.rlim_cur = usual
            #expect(unsafe setrlimit(descriptors, &limit) == 0)
            #expect(error?.code == .libraryMissing)
            #expect(error?.reason.contains("apt-get install libssl3") == true)
        }
    }

    @Test func `OpenSSL that lacks a function: libraryMissing names the function`() {
        for name in ["", "EVP_Digest"] {
            let error = #expect(throws: CryptographyError.self) { try LibCrypto.check(missing: name) }
            #expect(error?.code == .libraryMissing && error?.reason.contains(name.isEmpty ? "libssl3" : name) == true)
        }
    }

    /// Whether the library has providers, which a configuration can leave out.
    private static let hasProviders = unsafe dlopen("libcrypto.so.3", RTLD_NOW) != nil

    @Test(.ownThreads, .enabled(if: hasProviders, "OpenSSL 3 is not installed"))
    func `OpenSSL whose configuration leaves out every cipher and hash: refused`() async throws {
        // config(5): a provider that is named in place of the usual one, and has neither.
        let configuration = """
            openssl_conf = init
            [init]
            providers = providers
            [providers]
            base = base
            [base]
            activate = 1

            """
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("nfc-tests-\(UUID().uuidString).cnf")
        try Data(configuration.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            _ = unsafe setenv("OPENSSL_CONF", path, 1)
            let block = [UInt8](repeating: 0, count: 16)
            let calls: [() throws -> [UInt8]] = [
                { try BlockCipher.aes(block).encrypt(block) }, { try BlockCipher.des(block).decrypt(block) },
                { try MessageDigest.sha256.hash(block) },
            ]
            for call in calls {
                let error = #expect(throws: CryptographyError.self) { try call() }
                #expect(error?.code == .refused)
            }
        }
    }

    /// Threads of virtual cards run until the process is gone.
    @Test(.ownThreads) func `exit handlers of a process that ends: ciphers and hashes still work`() async {
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
