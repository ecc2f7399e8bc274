// SPDX-License-Identifier: Apache-2.0
public import CardCryptography

/// The persistent state of a FeliCa Lite-S (RC-S966; FeliCa Lite-S User's Manual, 3).
public struct FeliCaLiteSContents: Sendable, Hashable {
    /// The chip's blocks, by number.
    public struct Block: RawRepresentable, Sendable, Hashable {
        public var rawValue: UInt8

        /// Creates a block number.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The register, which can only count down.
        public static let register = Block(rawValue: 0x0E)
        /// The random challenge, which is volatile and reads as zero.
        public static let randomChallenge = Block(rawValue: 0x80)
        /// The message authentication code of FeliCa Lite.
        public static let mac = Block(rawValue: 0x81)
        /// The identifier: IDm, data format code, six free bytes.
        public static let identifier = Block(rawValue: 0x82)
        /// The IDm and PMm.
        public static let deviceIdentifier = Block(rawValue: 0x83)
        /// The service code.
        public static let serviceCode = Block(rawValue: 0x84)
        /// The system code.
        public static let systemCode = Block(rawValue: 0x85)
        /// The version of the card key.
        public static let keyVersion = Block(rawValue: 0x86)
        /// The card key, which reads as zero.
        public static let cardKey = Block(rawValue: 0x87)
        /// The memory configuration.
        public static let memoryConfiguration = Block(rawValue: 0x88)
        /// The write counter.
        public static let writeCounter = Block(rawValue: 0x90)
        /// The message authentication code of FeliCa Lite-S.
        public static let macA = Block(rawValue: 0x91)
        /// Whether the reader is authenticated.
        public static let state = Block(rawValue: 0x92)
        /// Whether the memory is intact.
        public static let integrity = Block(rawValue: 0xA0)
    }

    /// The IDm, 8 bytes.
    public var idm: [UInt8]
    /// The PMm, 8 bytes. The second one is the IC code F1.
    public var pmm: [UInt8]
    /// Blocks 00 to 0D (S_PAD0 to S_PAD13), 16 bytes each. The first one is the NDEF attribute information.
    public var userMemory: [UInt8]
    /// Block 0E.
    public var register: [UInt8]
    /// Bytes 8 to 15 of block 82: the data format code and six free bytes.
    public var identifierExtension: [UInt8]
    /// Block 83, 16 bytes, if a dump has other data there than the IDm and the PMm; nil otherwise.
    public var deviceIdentifier: [UInt8]?
    /// Block 84: the service code.
    public var serviceCode: [UInt8]
    /// Block 86: the version of the card key.
    public var keyVersion: [UInt8]
    /// Block 87: the card key.
    @Hidden public var cardKey: [UInt8]
    /// Block 88: the memory configuration.
    public var memoryConfiguration: [UInt8]
    /// Block 90, as a 24-bit number.
    public var writeCounter: UInt32

    /// Creates a chip with an empty NDEF format.
    ///
    /// - Parameters:
    ///   - idm: the IDm, 8 bytes.
    ///   - pmm: the PMm, 8 bytes.
    public init(idm: [UInt8], pmm: [UInt8] = [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00]) {
        self.idm = idm
        self.pmm = pmm
        let zero = [UInt8](repeating: 0, count: 16)
        let half = [UInt8](repeating: 0, count: 8)
        userMemory =
            FeliCaSystem.attributes(blockCount: 13, maximumRead: 4, maximumWrite: 1)
            + Array(repeating: 0, count: 13 * 16)
        // The register counts down from its maximum.
        register = Array(repeating: 0xFF, count: 8) + half
        identifierExtension = half
        serviceCode = zero
        keyVersion = zero
        cardKey = zero
        memoryConfiguration = [0xFF, 0xFF, 0xFF, 0x01, 0x07, 0x00, 0x00, 0x00] + half
        writeCounter = 0
    }

    /// Whether the chip answers polling for the NDEF system 12FC: SYS_OP of the memory configuration.
    public var supportsNDEF: Bool {
        get { memoryConfiguration[3] & 0x01 != 0 }
        set { memoryConfiguration[3] = memoryConfiguration[3] & ~0x01 | (newValue ? 0x01 : 0x00) }
    }
}
