// SPDX-License-Identifier: Apache-2.0

/// The persistent protection state of an ICODE SLIX or SLIX2 (SL2S2002 data sheet, 9.4; SL2S2602, 9.5).
public struct ICODEProtection: Sendable, Hashable {
    /// What the read and the write password protect on the two pages of SLIX2, as set with PROTECT PAGE.
    public struct Condition: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The lower page needs the read password.
        public static let readLow = Condition(rawValue: 0x01)
        /// Writing to the lower page needs the write password.
        public static let writeLow = Condition(rawValue: 0x02)
        /// The higher page needs the read password.
        public static let readHigh = Condition(rawValue: 0x10)
        /// Writing to the higher page needs the write password.
        public static let writeHigh = Condition(rawValue: 0x20)
    }

    /// The first block of the higher page.
    public var pointer: UInt8 = 0
    /// What the passwords protect.
    public var condition: Condition = []
    /// Whether the pointer and the condition are locked.
    public var isConditionLocked = false
    /// The identifiers of the passwords that are locked.
    public var lockedPasswords: Set<UInt8> = []
    /// Whether the read and the write password are needed together, as a 64-bit password.
    public var needsBothPasswords = false
    /// Whether the surveillance commands need a password.
    public var isSurveillanceProtected = false
    /// Whether changing the application family needs a password.
    public var isFamilyProtected = false
    /// The identifier for selective surveillance.
    public var surveillanceIdentifier: UInt16 = 0
    /// Whether counting needs the read password.
    public var isCounterProtected = false
    /// Whether the tag is private. Then it only answers GET RANDOM NUMBER and SET PASSWORD.
    public var isPrivate = false
    /// Whether the tag is destroyed: it never answers again.
    public var isDestroyed = false
    /// Whether the tag stays quiet after a loss of power.
    public var isPersistentlyQuiet = false
    /// Whether the tag accepts every password. No real ICODE does; an emulated one may.
    public var acceptsEveryPassword = false

    /// Creates the state of a new tag.
    public init() {}
}
