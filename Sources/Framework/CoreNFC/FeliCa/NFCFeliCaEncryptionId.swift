// SPDX-License-Identifier: Apache-2.0

/// The kind of encryption that a card has.
public enum NFCFeliCaEncryptionId: Int, Sendable {
    /// AES.
    case AES = 0x4F
    /// AES and DES.
    case AES_DES = 0x41

    /// AES.
    @available(*, deprecated, renamed: "AES")
    public static var aes: NFCFeliCaEncryptionId { .AES }
    /// AES and DES.
    @available(*, deprecated, renamed: "AES_DES")
    public static var aes_des: NFCFeliCaEncryptionId { .AES_DES }
}

/// The kind of encryption that a card has.
@available(*, deprecated, renamed: "NFCFeliCaEncryptionId")
public typealias EncryptionId = NFCFeliCaEncryptionId
