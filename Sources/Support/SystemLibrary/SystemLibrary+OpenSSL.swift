// SPDX-License-Identifier: Apache-2.0

extension SystemLibrary {
    /// Opens OpenSSL's libcrypto so that it works until the process is gone.
    ///
    /// By default libcrypto frees its data when the process starts to exit. A thread that still uses it then crashes or
    /// hangs (OpenSSL manual, `OPENSSL_init_crypto`).
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
