// SPDX-License-Identifier: Apache-2.0
import SystemLibrary

/// The functions of the system's OpenSSL libcrypto that cards need.
///
/// The library is opened when it is first needed, so the package builds and runs without it. Versions 3 and 1.1 have
/// the same functions. Function pointers never change once they were found, so any thread may use them.
@safe struct LibCrypto: @unchecked Sendable {
    typealias Named = @convention(c) () -> OpaquePointer?
    typealias Free = @convention(c) (OpaquePointer?) -> Void
    typealias SetPadding = @convention(c) (OpaquePointer?, CInt) -> CInt
    typealias CipherInit =
        @convention(c) (
            OpaquePointer?, OpaquePointer?, OpaquePointer?, UnsafePointer<UInt8>?, UnsafePointer<UInt8>?, CInt
        ) -> CInt
    typealias CipherUpdate =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<CInt>?, UnsafePointer<UInt8>?, CInt
        ) -> CInt
    typealias Digest =
        @convention(c) (
            UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<CUnsignedInt>?, OpaquePointer?,
            OpaquePointer?
        ) -> CInt

    let newContext: Named
    let freeContext: Free
    let setPadding: SetPadding
    let cipherInit: CipherInit
    let cipherUpdate: CipherUpdate
    let digest: Digest
    let ciphers: [BlockCipher.Transformation: Named]
    let digests: [MessageDigest: Named]

    /// The library, or the reason why it is not available.
    static let shared: Result<LibCrypto, CryptographyError> = Result { () throws(CryptographyError) in try LibCrypto() }

    private init() throws(CryptographyError) {
        let library = try Self.openLibrary()
        unsafe newContext = try Self.function("EVP_CIPHER_CTX_new", of: library)
        unsafe freeContext = try Self.function("EVP_CIPHER_CTX_free", of: library)
        unsafe setPadding = try Self.function("EVP_CIPHER_CTX_set_padding", of: library)
        unsafe cipherInit = try Self.function("EVP_CipherInit_ex", of: library)
        unsafe cipherUpdate = try Self.function("EVP_CipherUpdate", of: library)
        unsafe digest = try Self.function("EVP_Digest", of: library)
        var ciphers: [BlockCipher.Transformation: Named] = unsafe [:]
        for transformation in BlockCipher.Transformation.allCases {
            unsafe ciphers[transformation] = try Self.function(transformation.functionName, of: library)
        }
        unsafe self.ciphers = ciphers
        var digests: [MessageDigest: Named] = unsafe [:]
        for digest in MessageDigest.allCases {
            unsafe digests[digest] = try Self.function(digest.functionName, of: library)
        }
        unsafe self.digests = digests
    }

    /// Opens the library. Opening it again returns the same one.
    static func openLibrary() throws(CryptographyError) -> SystemLibrary {
        guard let library = SystemLibrary.libcrypto(version: "3") ?? SystemLibrary.libcrypto(version: "1.1") else {
            throw CryptographyError(
                .libraryMissing,
                "OpenSSL's libcrypto.so.3 is not installed. Install it with: apt-get install libssl3"
            )
        }
        return library
    }

    static func function<Function>(
        _ name: String,
        of library: SystemLibrary
    ) throws(CryptographyError) -> Function {
        guard let function = unsafe library.function(name, as: Function.self) else {
            throw CryptographyError(
                .libraryMissing,
                "The system's libcrypto has no \(name); OpenSSL 3 or 1.1 is needed."
            )
        }
        return function
    }
}
