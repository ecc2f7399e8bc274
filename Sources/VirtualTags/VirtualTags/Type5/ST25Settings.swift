// SPDX-License-Identifier: Apache-2.0
public import CardCryptography

/// The persistent state of an ST25TV or ST25DV besides its memory: registers, passwords and modes (DS12074 and
/// DS10925).
public struct ST25Settings: Sendable, Hashable {
    /// The static configuration, by the pointers of READ CONFIGURATION: 00 to 07 of ST25TV, 00 to 0F of ST25DV. The
    /// lock of the container, the counter and the tamper loop are stored elsewhere.
    public var registers: [UInt8]
    /// The four passwords. ST25TV: 4 bytes each, for kill and untraceable mode, area 1, area 2, and configuration.
    /// ST25DV: 8 bytes each, for configuration and three areas.
    @Hidden public var passwords: [[UInt8]]
    /// ST25TV: whether the kill password is locked.
    public var isKillLocked = false
    /// ST25TV: whether the tag was killed. Then it never answers again.
    public var isKilled = false
    /// ST25TV: whether the tag is untraceable. Then it only answers GET RANDOM NUMBER and PRESENT PASSWORD.
    public var isUntraceable = false
    /// ST25TV: whether the surveillance bit is set.
    public var isSurveillanceSet = false
    /// ST25TV: whether the surveillance bit, identifier and telegram are locked.
    public var isSurveillanceLocked = false
    /// ST25TV: the identifier for surveillance.
    public var surveillanceIdentifier: UInt16 = 0
    /// ST25TV: the 32 bytes of the surveillance telegram.
    public var telegram: [UInt8]
    /// ST25TV: how much of the telegram is sent: 32 bytes, and half as many for each step from 0 to 3.
    public var telegramLength: UInt8 = 0
    /// ST25TV02K: whether the tamper loop is closed, that is, intact.
    public var isTamperLoopClosed = true
    /// ST25DV: whether the chip has another supply than the field, such as a running host. The mailbox needs it.
    public var isSupplied = true

    /// Creates the state of a new tag of a product.
    public init(_ product: Type5Product) {
        telegram = Array(repeating: 0, count: 32)
        let end = UInt8(truncatingIfNeeded: product.blockCount * product.blockSize / 32 - 1)
        if product.features.contains(.configuration) {
            registers = [0x88, 0x03, 0x01, 0, 0, end, 0, end, 0, end, 0, 0, 0, 0, 0x07, 0]
            passwords = Array(repeating: Array(repeating: 0, count: 8), count: 4)
        } else {
            registers = Array(repeating: 0, count: 8)
            passwords = Array(repeating: Array(repeating: 0, count: 4), count: 4)
        }
    }
}
