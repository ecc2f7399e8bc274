// SPDX-License-Identifier: Apache-2.0
import SystemLibrary

/// The functions of OpenSSL's libssl that a client needs, from the library of the system.
///
/// It is opened when it is first needed, so that the package builds and runs where it is absent. Pointers to functions
/// never change once they were found, so that any thread may use them.
@safe struct LibSSL: @unchecked Sendable {
    typealias Named = @convention(c) () -> OpaquePointer?
    typealias Make = @convention(c) (OpaquePointer?) -> OpaquePointer?
    typealias Free = @convention(c) (OpaquePointer?) -> Void
    typealias Control = @convention(c) (OpaquePointer?, CInt, CLong, UnsafeMutableRawPointer?) -> CLong
    typealias Simple = @convention(c) (OpaquePointer?) -> CInt
    typealias LoadLocations = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> CInt
    typealias SetVerify = @convention(c) (OpaquePointer?, CInt, OpaquePointer?) -> Void
    typealias SetHost = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> CInt
    typealias SetNumber = @convention(c) (OpaquePointer?, CInt) -> CInt
    typealias Read = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, CInt) -> CInt
    typealias Write = @convention(c) (OpaquePointer?, UnsafeRawPointer?, CInt) -> CInt
    typealias VerifyResult = @convention(c) (OpaquePointer?) -> CLong
    typealias VerifyText = @convention(c) (CLong) -> UnsafePointer<CChar>?
    typealias ClearErrors = @convention(c) () -> Void

    let clientMethod: Named
    let newContext: Make
    let freeContext: Free
    let controlContext: Control
    let setDefaultAuthorities: Simple
    let loadAuthorities: LoadLocations
    let setVerify: SetVerify
    let newConnection: Make
    let freeConnection: Free
    let controlConnection: Control
    let setHost: SetHost
    let setDescriptor: SetNumber
    let connect: Simple
    let read: Read
    let write: Write
    let error: SetNumber
    let verifyResult: VerifyResult
    let verifyText: VerifyText
    let clearErrors: ClearErrors

    /// The library, or why it can't be had.
    static let shared: Result<LibSSL, FetchError> = Result { () throws(FetchError) in try LibSSL() }

    private init() throws(FetchError) {
        let versions = ["3", "1.1"]
        let libraries = versions.lazy.compactMap { version in
            SystemLibrary("libssl.so.\(version)").flatMap { ssl in
                SystemLibrary.libcrypto(version: version).map { (ssl, $0) }
            }
        }
        guard let (ssl, crypto) = libraries.first else {
            throw FetchError(
                .libraryMissing,
                "OpenSSL's libssl.so.3 is not installed. Install it with: apt-get install libssl3"
            )
        }
        unsafe clientMethod = try Self.function("TLS_client_method", of: ssl)
        unsafe newContext = try Self.function("SSL_CTX_new", of: ssl)
        unsafe freeContext = try Self.function("SSL_CTX_free", of: ssl)
        unsafe controlContext = try Self.function("SSL_CTX_ctrl", of: ssl)
        unsafe setDefaultAuthorities = try Self.function("SSL_CTX_set_default_verify_paths", of: ssl)
        unsafe loadAuthorities = try Self.function("SSL_CTX_load_verify_locations", of: ssl)
        unsafe setVerify = try Self.function("SSL_CTX_set_verify", of: ssl)
        unsafe newConnection = try Self.function("SSL_new", of: ssl)
        unsafe freeConnection = try Self.function("SSL_free", of: ssl)
        unsafe controlConnection = try Self.function("SSL_ctrl", of: ssl)
        unsafe setHost = try Self.function("SSL_set1_host", of: ssl)
        unsafe setDescriptor = try Self.function("SSL_set_fd", of: ssl)
        unsafe connect = try Self.function("SSL_connect", of: ssl)
        unsafe read = try Self.function("SSL_read", of: ssl)
        unsafe write = try Self.function("SSL_write", of: ssl)
        unsafe error = try Self.function("SSL_get_error", of: ssl)
        unsafe verifyResult = try Self.function("SSL_get_verify_result", of: ssl)
        unsafe verifyText = try Self.function("X509_verify_cert_error_string", of: crypto)
        clearErrors = try Self.function("ERR_clear_error", of: crypto)
    }

    private static func function<Function>(
        _ name: String,
        of library: SystemLibrary
    ) throws(FetchError) -> Function {
        guard let function = unsafe library.function(name, as: Function.self) else {
            throw FetchError(.libraryMissing, "The system's OpenSSL has no \(name); version 3 or 1.1 is needed.")
        }
        return function
    }
}
