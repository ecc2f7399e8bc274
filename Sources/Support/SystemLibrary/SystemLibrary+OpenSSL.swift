// SPDX-License-Identifier: Apache-2.0

extension SystemLibrary {
    /// Opens OpenSSL's libcrypto, such that it works until the process is gone.
    ///
    /// By itself it frees what it has when the process begins to end, and a thread that is still in it or comes to it then
    /// crashes or waits for ever (OpenSSL manual, `OPENSSL_init_crypto`).
    ///
    /// - Parameter version: the version in the file's name, such as `3`.
    /// - Returns: nil when it is not installed.
    public static func libcrypto(version: String) -> SystemLibrary? {
        typealias Initialize = @convention(c) (UInt64, UnsafeRawPointer?) -> CInt
        guard let library = SystemLibrary("libcrypto.so.\(version)") else { return nil }
        let initialize: Initialize? = unsafe library.function("OPENSSL_init_crypto")
        // OPENSSL_INIT_NO_ATEXIT
        _ = initialize?(0x0008_0000, nil)
        return library
    }
}
