// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Records why OpenSSL rejects a broker's certificate, because libmosquitto does not report the reason.
///
/// Uses the OpenSSL library that libmosquitto loads. If libmosquitto uses another TLS library, nothing is recorded.
@safe final class CertificateCheck {
    private typealias Pointer = UnsafeMutableRawPointer
    private typealias Check = @convention(c) (Pointer?, Pointer?) -> Int32
    private typealias Ask = @convention(c) (Pointer?) -> Int32

    private static func function<Function>(_ name: String) -> Function? {
        guard let handle = unsafe dlopen("libssl.so.3", RTLD_NOW | RTLD_NOLOAD), let symbol = unsafe dlsym(handle, name)
        else { return nil }
        return unsafe unsafeBitCast(symbol, to: Function.self)
    }

    private static let check: Ask? = unsafe function("X509_verify_cert")
    private static let error: Ask? = unsafe function("X509_STORE_CTX_get_error")

    /// OpenSSL's error code; nil unless a certificate was rejected.
    private var code: Int32?

    /// Observes a connection before its certificate arrives. The connection must not outlive this object.
    func observe(_ connection: UnsafeMutableRawPointer?) {
        let context: (@convention(c) (Pointer?) -> Pointer?)? = unsafe Self.function("SSL_get_SSL_CTX")
        let set: (@convention(c) (Pointer?, Check?, Pointer?) -> Void)? =
            unsafe Self.function("SSL_CTX_set_cert_verify_callback")
        let isComplete = unsafe Self.check != nil && Self.error != nil
        guard let connection = unsafe connection, let context = unsafe context, let set = unsafe set, isComplete else {
            return
        }
        unsafe set(context(connection), verifyCertificate, Unmanaged.passUnretained(self).toOpaque())
    }

    fileprivate func verify(_ store: UnsafeMutableRawPointer?) -> Int32 {
        guard let check = unsafe Self.check, let error = unsafe Self.error else { return 0 }
        let result = unsafe check(store)
        if result != 1 { code = unsafe error(store) }
        return result
    }

    /// Explains why a host's certificate was rejected and what to do; nil if it was not rejected.
    func reason(_ host: String) -> String? {
        switch code {
        case nil: nil
        case 9: "The broker's certificate is not valid yet. Check this machine's clock."
        case 10: "The broker's certificate has expired. Renew it, or check this machine's clock."
        case 2, 18, 19, 20, 21:
            "The broker's certificate is from an authority that this machine does not trust. Check ca."
        case 23: "The broker's certificate was revoked."
        // libmosquitto itself compares the host name, and reports no error code for a mismatch.
        case 0, 1, 62: "The broker's certificate is not valid for \(host). Check the broker's address."
        case let code?: "The broker's certificate was rejected (OpenSSL error \(code)). Check ca and the certificate."
        }
    }
}

// A function instead of a closure, so that it is not isolated to an actor.
private func verifyCertificate(_ store: UnsafeMutableRawPointer?, _ object: UnsafeMutableRawPointer?) -> Int32 {
    guard let object = unsafe object else { return 0 }
    return unsafe Unmanaged<CertificateCheck>.fromOpaque(object).takeUnretainedValue().verify(store)
}
