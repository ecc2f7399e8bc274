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
            throw ConfigurationError("tls.ca: \(authorities) contains no PEM certificate.")
        }
        guard let certificate, let key else { return }
        switch library.pair(certificate: certificate, key: key) {
        case .fits: return
        case .noCertificate: throw ConfigurationError("tls.certificate: \(certificate) contains no PEM certificate.")
        case .noKey: throw ConfigurationError("tls.key: \(key) contains no PEM key without a password.")
        case .differs:
            throw ConfigurationError(
                "tls.certificate and tls.key do not match. Name the certificate's own key."
            )
        }
    }

    private static func checkReading(_ path: String, of setting: String) throws(ConfigurationError) {
        guard unsafe access(path, R_OK) != 0 else { return }
        throw ConfigurationError(
            errno == ENOENT
                ? "\(setting): The file \(path) does not exist."
                : "\(setting): \(path) can't be read. Check the owner and permissions of the file and its folders."
        )
    }
}
