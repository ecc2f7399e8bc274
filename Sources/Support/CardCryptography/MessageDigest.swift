// SPDX-License-Identifier: Apache-2.0

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

    var functionName: String {
        switch self {
        case .sha1: "EVP_sha1"
        case .sha256: "EVP_sha256"
        }
    }

    /// Hashes data.
    ///
    /// - Parameter data: the data to hash.
    /// - Returns: ``length`` bytes.
    /// - Throws: ``CryptographyError`` with `libraryMissing` or `refused`.
    public func hash(_ data: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let library = try LibCrypto.shared.get()
        var output = [UInt8](repeating: 0, count: length)
        let result = unsafe data.withUnsafeBytes { data in
            unsafe output.withUnsafeMutableBufferPointer { output in
                unsafe library.digest(
                    data.baseAddress,
                    data.count,
                    output.baseAddress,
                    nil,
                    library.digests[self]?(),
                    nil
                )
            }
        }
        guard result == 1 else { throw CryptographyError(.refused, "libcrypto refused to hash.") }
        return output
    }
}
