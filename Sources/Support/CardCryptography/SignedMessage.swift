// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// Messages with signatures and the signers' certificates (CMS, RFC 5652).
package enum SignedMessage {
    /// Checks the signatures of a message, and returns what was signed.
    ///
    /// - Parameters:
    ///   - message: the message, in DER.
    ///   - issuers: certificates in PEM, one of which must have issued the signer's; nil to trust any signer.
    /// - Throws: ``CryptographyError`` with `libraryMissing`, or `refused` when a signature or a certificate is wrong.
    package static func content(of message: [UInt8], issuers: [UInt8]? = nil) throws(CryptographyError) -> [UInt8] {
        try LibCrypto.open()
        // The content is a part of the message.
        var content = [UInt8](repeating: 0, count: message.count)
        let (size, capacity, issuersSize) = (message.count, content.count, issuers?.count ?? 0)
        let length =
            if let issuers {
                unsafe ocn_crypto_signed_content(message, size, issuers, issuersSize, &content, capacity)
            } else {
                unsafe ocn_crypto_signed_content(message, size, nil, 0, &content, capacity)
            }
        guard length > 0 else {
            throw CryptographyError(
                .refused,
                issuers == nil
                    ? "The signature is wrong." : "None of the given certificates issued that of the signer."
            )
        }
        return Array(content.prefix(length))
    }
}
