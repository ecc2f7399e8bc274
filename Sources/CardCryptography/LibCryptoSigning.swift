// SPDX-License-Identifier: Apache-2.0

/// The functions of libcrypto that sign. Few programs need them, so that they are found apart from the others.
///
/// Pointers to functions never change once they were found, so that any thread may use them.
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

    /// The functions, or why they can't be had.
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
