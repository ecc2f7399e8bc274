// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The functions of OpenSSL that load certificates and keys, so that a wrong file is found before it is used.
///
/// libmosquitto brings the library. Where it uses another one, nothing is checked.
@safe struct TLSLibrary {
    /// How a certificate and a key fit.
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

    /// Finds the library in the process; nil without it.
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

    /// Whether a file has certificates of authorities.
    func takes(authorities: String) -> Bool {
        unsafe inContext { context in unsafe loadAuthorities(context, authorities, nil) == 1 } ?? true
    }

    /// How the certificate and the key of two files fit.
    func pair(certificate: String, key: String) -> Pair {
        let isKey = unsafe inContext { context in unsafe loadKey(context, key, Self.pem) == 1 }
        guard isKey != false else { return .noKey }
        let pair = unsafe inContext { context -> Pair in
            guard unsafe loadCertificate(context, certificate) == 1 else { return .noCertificate }
            // It refuses a key that does not fit the certificate that was loaded before.
            return unsafe loadKey(context, key, Self.pem) == 1 ? .fits : .differs
        }
        return pair ?? .fits
    }

    /// Does something in a new context; nil when none can be made. It asks nobody for a password.
    private func inContext<Value>(_ body: (Context) -> Value) -> Value? {
        guard let context = unsafe make(method()) else { return nil }
        defer {
            unsafe free(context)
            // The connections of this thread look at the same list of errors.
            clearErrors()
        }
        unsafe setAsk(context) { _, _, _, _ in 0 }
        return unsafe body(context)
    }
}
