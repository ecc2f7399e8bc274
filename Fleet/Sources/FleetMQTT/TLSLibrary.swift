// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The OpenSSL functions that load certificates and keys, so that invalid files are found before they are used.
///
/// Uses the OpenSSL library that libmosquitto loads. If libmosquitto uses another TLS library, nothing is checked.
@safe struct TLSLibrary {
    /// Whether a certificate and a key belong together.
    enum Pair {
        case fits, differs, noCertificate, noKey
    }

    private typealias Context = UnsafeMutableRawPointer
    private typealias Load = @convention(c) (Context, UnsafePointer<CChar>) -> Int32
    private typealias LoadOfKind = @convention(c) (Context, UnsafePointer<CChar>, Int32) -> Int32
    private typealias Verify = @convention(c) (Context, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32
    private typealias Ask =
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32

    private static let pem: Int32 = 1

    private let method: @convention(c) () -> UnsafeRawPointer?
    private let make: @convention(c) (UnsafeRawPointer?) -> Context?
    private let free: @convention(c) (Context) -> Void
    private let setAsk: @convention(c) (Context, Ask?) -> Void
    private let loadAuthorities: Verify
    private let loadCertificate: Load
    private let loadKey: LoadOfKind
    private let clearErrors: @convention(c) () -> Void

    /// Finds OpenSSL in the process; nil if it is not loaded.
    init?() {
        guard let handle = unsafe dlopen("libssl.so.3", RTLD_NOW | RTLD_NOLOAD) else { return nil }
        func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
            guard let symbol = unsafe dlsym(handle, name) else { return nil }
            return unsafe unsafeBitCast(symbol, to: Function.self)
        }
        guard let method: @convention(c) () -> UnsafeRawPointer? = unsafe function("TLS_client_method"),
            let make: @convention(c) (UnsafeRawPointer?) -> Context? = unsafe function("SSL_CTX_new"),
            let free: @convention(c) (Context) -> Void = unsafe function("SSL_CTX_free"),
            let setAsk: @convention(c) (Context, Ask?) -> Void = unsafe function("SSL_CTX_set_default_passwd_cb"),
            let loadAuthorities = unsafe function("SSL_CTX_load_verify_locations", as: Verify.self),
            let loadCertificate = unsafe function("SSL_CTX_use_certificate_chain_file", as: Load.self),
            let loadKey = unsafe function("SSL_CTX_use_PrivateKey_file", as: LoadOfKind.self),
            let clearErrors: @convention(c) () -> Void = function("ERR_clear_error")
        else { return nil }
        unsafe (self.method, self.make, self.free, self.setAsk) = (method, make, free, setAsk)
        unsafe (self.loadAuthorities, self.loadCertificate) = (loadAuthorities, loadCertificate)
        unsafe (self.loadKey, self.clearErrors) = (loadKey, clearErrors)
    }

    /// Whether a file contains CA certificates.
    func takes(authorities: String) -> Bool {
        unsafe inContext { context in unsafe loadAuthorities(context, authorities, nil) == 1 } ?? true
    }

    /// Checks whether a certificate file and a key file belong together.
    func pair(certificate: String, key: String) -> Pair {
        let isKey = unsafe inContext { context in unsafe loadKey(context, key, Self.pem) == 1 }
        guard isKey != false else { return .noKey }
        let pair = unsafe inContext { context -> Pair in
            guard unsafe loadCertificate(context, certificate) == 1 else { return .noCertificate }
            // Loading fails if the key does not match the certificate loaded before.
            return unsafe loadKey(context, key, Self.pem) == 1 ? .fits : .differs
        }
        return pair ?? .fits
    }

    /// Runs a function with a new context that never asks for a password; nil if the context can't be created.
    private func inContext<Value>(_ body: (Context) -> Value) -> Value? {
        guard let context = unsafe make(method()) else { return nil }
        defer {
            unsafe free(context)
            // Connections on this thread use the same error queue.
            clearErrors()
        }
        unsafe setAsk(context) { _, _, _, _ in 0 }
        return unsafe body(context)
    }
}
