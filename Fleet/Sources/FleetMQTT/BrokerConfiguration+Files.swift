// SPDX-License-Identifier: Apache-2.0
import FleetModel
import Glibc

extension BrokerConfiguration {
    /// Checks the files of `[tls]`: an invalid file would make every connection fail.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting.
    func checkFiles() throws(ConfigurationError) {
        for (setting, path) in [("tls.ca", authorities), ("tls.certificate", certificate), ("tls.key", key)] {
            if let path { try Self.checkReading(path, of: setting) }
        }
        // libmosquitto loads OpenSSL, so it is already in the process.
        guard let library = TLSLibrary() else { return }
        if let authorities, !library.takes(authorities: authorities) {
            throw ConfigurationError("tls.ca: \(authorities) has no certificate in PEM.")
        }
        guard let certificate, let key else { return }
        switch library.pair(certificate: certificate, key: key) {
        case .fits: return
        case .noCertificate: throw ConfigurationError("tls.certificate: \(certificate) has no certificate in PEM.")
        case .noKey: throw ConfigurationError("tls.key: \(key) has no key in PEM without a password.")
        case .differs:
            throw ConfigurationError(
                "tls.certificate and tls.key do not belong together. Name the key that the certificate was made for."
            )
        }
    }

    private static func checkReading(_ path: String, of setting: String) throws(ConfigurationError) {
        guard unsafe access(path, R_OK) != 0 else { return }
        throw ConfigurationError(
            errno == ENOENT
                ? "\(setting): There is no file \(path)."
                : "\(setting): \(path) can't be read. Check whose it is, and the folders above it."
        )
    }
}
