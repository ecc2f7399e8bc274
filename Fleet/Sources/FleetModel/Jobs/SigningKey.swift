// SPDX-License-Identifier: Apache-2.0
import CSodium

/// A private Ed25519 key (RFC 8032), as a seed of 32 bytes.
package struct SigningKey: Sendable {
    /// The private key.
    package let seed: [UInt8]
    /// The public key.
    package let publicKey: VerifyingKey
    /// The seed, and the public key behind it.
    private let expanded: [UInt8]

    /// Creates a random key.
    package init() {
        self.init((0..<crypto_sign_SEEDBYTES).map { _ in UInt8.random(in: 0...0xFF) })
    }

    /// Creates a key from its seed; nil unless it has 32 bytes.
    package init?(seed: [UInt8]) {
        guard seed.count == crypto_sign_SEEDBYTES else { return nil }
        self.init(seed)
    }

    private init(_ seed: [UInt8]) {
        var expanded = [UInt8](repeating: 0, count: Int(crypto_sign_SECRETKEYBYTES))
        var shared = [UInt8](repeating: 0, count: Int(crypto_sign_PUBLICKEYBYTES))
        unsafe crypto_sign_seed_keypair(&shared, &expanded, seed)
        (self.seed, self.publicKey, self.expanded) = (seed, VerifyingKey(checked: shared), expanded)
    }

    /// Returns the signature of a message, 64 bytes.
    package func signature(of message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Int(crypto_sign_BYTES))
        unsafe crypto_sign_detached(&signature, nil, message, UInt64(message.count), expanded)
        return signature
    }
}

/// A public Ed25519 key (RFC 8032).
package struct VerifyingKey: Sendable, Hashable {
    /// The key's 32 bytes.
    package let bytes: [UInt8]

    /// Creates a key from its bytes; nil unless there are 32.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == crypto_sign_PUBLICKEYBYTES else { return nil }
        self.bytes = bytes
    }

    fileprivate init(checked bytes: [UInt8]) { self.bytes = bytes }

    /// Whether a signature belongs to a message and this key.
    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == crypto_sign_BYTES else { return false }
        return unsafe crypto_sign_verify_detached(signature, message, UInt64(message.count), bytes) == 0
    }
}

/// Returns the HMAC-SHA256 of a message (RFC 2104).
func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    var state = crypto_auth_hmacsha256_state()
    var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
    unsafe crypto_auth_hmacsha256_init(&state, key, key.count)
    unsafe crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
    unsafe crypto_auth_hmacsha256_final(&state, &code)
    return code
}
