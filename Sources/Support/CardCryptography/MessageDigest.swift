// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// A hash function of FIPS 180-4.
public enum MessageDigest: Sendable, Hashable, CaseIterable {
    /// SHA-1, 20 bytes. ICAO 9303 derives keys with it.
    case sha1
    /// SHA-256, 32 bytes.
    case sha256

    /// The length of a hash, in bytes.
    public var length: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        }
    }

    /// The hash function's name in C.
    var identifier: ocn_digest {
        switch self {
        case .sha1: ocn_sha1
        case .sha256: ocn_sha256
        }
    }

    /// Hashes data.
    ///
    /// - Parameter data: the data to hash.
    /// - Returns: ``length`` bytes.
    /// - Throws: ``CryptographyError`` with `libraryMissing` or `refused`.
    public func hash(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try LibCrypto.open()
        var output = [UInt8](repeating: 0, count: length)
        guard unsafe ocn_crypto_digest(identifier, data, data.count, &output) else {
            throw CryptographyError(.refused, "libcrypto refused to hash.")
        }
        return output
    }
}
