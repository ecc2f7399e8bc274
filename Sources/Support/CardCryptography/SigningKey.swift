// SPDX-License-Identifier: Apache-2.0

/// A private key for signing, such as the key of a document's issuer.
public struct SigningKey: Sendable, Hashable {
    private let encoded: SecretBytes

    /// Creates a key. Whether it is valid is only checked when it signs.
    ///
    /// - Parameter encoded: the key in DER: PKCS #8 (RFC 5958) without encryption, or the older form of its algorithm.
    public init(encoded: [UInt8]) {
        self.encoded = SecretBytes(encoded)
    }

    /// Hashes a message and signs the hash.
    ///
    /// An RSA key signs with PKCS #1 1.5 (RFC 8017, 8.2), so the signature of a message is always the same. An elliptic
    /// curve key signs with ECDSA; the signature is in DER and differs each time.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - digest: the hash function.
    /// - Returns: the signature.
    /// - Throws: ``CryptographyError`` with `libraryMissing`, or `refused` when the key is invalid or can't sign.
    public func sign(_ message: [UInt8], _ digest: MessageDigest) throws(CryptographyError) -> [UInt8] {
        let hashes = try LibCrypto.shared.get()
        let library = try LibCryptoSigning.shared.get()
        let refusal = CryptographyError(.refused, "libcrypto refused to sign: is this a private key in DER?")
        let key = unsafe encoded.withBytes { octets in
            var position = unsafe octets
            return unsafe library.decodePrivateKey(nil, &position, encoded.count)
        }
        guard let key = unsafe key else { throw refusal }
        defer { unsafe library.freeKey(key) }
        let context = unsafe library.newContext()
        defer { unsafe library.freeContext(context) }
        var length = 0
        var isDone =
            unsafe library.signInit(context, nil, hashes.digests[digest]?(), nil, key) == 1
            && library.sign(context, nil, &length, message, message.count) == 1
        // The largest RSA key that libcrypto accepts has 16384 bits.
        guard isDone, (1...2048).contains(length) else { throw refusal }
        var signature = [UInt8](repeating: 0, count: length)
        isDone = unsafe signature.withUnsafeMutableBufferPointer { output in
            unsafe library.sign(context, output.baseAddress, &length, message, message.count) == 1
        }
        guard isDone, length <= signature.count else { throw refusal }
        return Array(signature.prefix(length))
    }
}

/// The functions of libcrypto for signing. Few programs need them, so they are looked up separately.
///
/// Function pointers never change once they were found, so any thread may use them.
@safe struct LibCryptoSigning: @unchecked Sendable {
    typealias DecodePrivateKey =
        @convention(c) (
            UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
        ) -> OpaquePointer?
    typealias SignInit =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, OpaquePointer?, OpaquePointer?, OpaquePointer?
        ) -> CInt
    typealias Sign =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?, UnsafePointer<UInt8>?, Int
        ) -> CInt

    let decodePrivateKey: DecodePrivateKey
    let freeKey: LibCrypto.Free
    let newContext: LibCrypto.Named
    let freeContext: LibCrypto.Free
    let signInit: SignInit
    let sign: Sign

    /// The functions, or the reason why they are not available.
    static let shared: Result<LibCryptoSigning, CryptographyError> = Result { () throws(CryptographyError) in
        try LibCryptoSigning()
    }

    private init() throws(CryptographyError) {
        let library = try LibCrypto.openLibrary()
        unsafe decodePrivateKey = try LibCrypto.function("d2i_AutoPrivateKey", of: library)
        unsafe freeKey = try LibCrypto.function("EVP_PKEY_free", of: library)
        unsafe newContext = try LibCrypto.function("EVP_MD_CTX_new", of: library)
        unsafe freeContext = try LibCrypto.function("EVP_MD_CTX_free", of: library)
        unsafe signInit = try LibCrypto.function("EVP_DigestSignInit", of: library)
        unsafe sign = try LibCrypto.function("EVP_DigestSign", of: library)
    }
}
