// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestThreads
import Testing

@testable import CardCryptography

/// The system's library, which a process opens once: each test has its own.
@Suite(.ownThreads) struct `The library of the ciphers` {
    @Test func `is opened by whatever needs it first`() async {
        await #expect(processExitsWith: .success) {
            // Three bytes are no key, and that is said by the library.
            let error = #expect(throws: CryptographyError.self) {
                try SigningKey(encoded: [1, 2, 3]).sign([1], .sha256)
            }
            #expect(error?.code == .refused)
        }
        await #expect(processExitsWith: .success) { _ = try MessageDigest.sha1.hash([]) }
    }

    @Test func `is reported as missing where it can't be opened`() async {
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
            #expect(error?.reason.hasPrefix("OpenSSL's libcrypto.so.3 is not installed.") == true)
        }
    }

    @Test(arguments: [
        ("", "OpenSSL's libcrypto.so.3 is not installed. Install it with: apt-get install libssl3"),
        ("EVP_Digest", "The system's libcrypto has no EVP_Digest; OpenSSL 3 or 1.1.1 is needed."),
    ])
    func `is reported with the function that it lacks`(name: String, reason: String) {
        let error = #expect(throws: CryptographyError.self) { try LibCrypto.check(missing: name) }
        #expect(error?.code == .libraryMissing && error?.reason == reason)
    }

    /// Whether the library has providers, which a configuration can leave out.
    private static let hasProviders = unsafe dlopen("libcrypto.so.3", RTLD_NOW) != nil

    @Test(.enabled(if: hasProviders, "OpenSSL 3 is not installed"))
    func `is an error where its configuration leaves out every cipher and hash`() async throws {
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
}
