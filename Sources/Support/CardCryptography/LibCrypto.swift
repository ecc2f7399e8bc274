// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// OpenSSL's libcrypto, from the library of the system.
///
/// It is opened when it is first needed, so that the package builds and runs where it is absent.
enum LibCrypto {
    /// Opens the library; later calls do nothing.
    ///
    /// - Throws: ``CryptographyError`` with `libraryMissing`.
    static func open() throws(CryptographyError) {
        try check(missing: unsafe ocn_crypto_missing().map { unsafe String(cString: $0) })
    }

    /// Throws unless nothing is missing.
    ///
    /// - Parameter name: the name of the function that the library lacks; empty when the library itself is missing.
    static func check(missing name: String?) throws(CryptographyError) {
        guard let name else { return }
        throw CryptographyError(
            .libraryMissing,
            name.isEmpty
                ? "OpenSSL's libcrypto.so.3 is not installed. Install it with: apt-get install libssl3"
                : "The system's libcrypto has no \(name); OpenSSL 3 or 1.1.1 is needed."
        )
    }
}
