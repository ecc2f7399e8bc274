// SPDX-License-Identifier: Apache-2.0

extension Type2Product {
    /// All products with a model.
    public static let all: [Type2Product] = [
        ultralight, ultralightC, ultralightEV1UL11, ultralightEV1UL21,
        ntag203, ntag210, ntag212, ntag213, ntag215, ntag216, ntagI2C1K, ntagI2C2K,
    ]

    /// MIFARE Ultralight, MF0ICU1: 48 bytes.
    ///
    /// It does not answer an unknown command. That is how nfcpy and Proxmark distinguish it from its successors.
    public static let ultralight = Type2Product(
        "MIFARE Ultralight",
        pageCount: 16,
        userPages: 4...15,
        capabilitySize: 0x06,
        features: [.compatibilityWrite, .ignoresUnknownCommands]
    )

    /// MIFARE Ultralight C, MF0ICU2: 144 bytes and 3DES authentication.
    public static let ultralightC = Type2Product(
        "MIFARE Ultralight C",
        pageCount: 48,
        readablePages: 44,
        userPages: 4...39,
        capabilitySize: 0x12,
        features: [.compatibilityWrite, .pageCounter, .tripleDES],
        lockActivation: .nextActivation,
        dynamicLock: .ultralightC(tail: [41...41, 42...42, 43...43, 44...47]),
        factoryConfiguration: [
            42: [0x30, 0, 0, 0],
            // The transport key: the bytes of "BREAKMEIFYOUCAN!".
            44: Array("BREA".utf8), 45: Array("KMEI".utf8), 46: Array("FYOU".utf8), 47: Array("CAN!".utf8),
        ]
    )

    /// MIFARE Ultralight EV1, MF0UL11: 48 bytes, password and three counters.
    public static let ultralightEV1UL11 = ultralightEV1("MIFARE Ultralight EV1 UL11", size: 0x0B, userEnd: 15)

    /// MIFARE Ultralight EV1, MF0UL21: 128 bytes, password and three counters.
    public static let ultralightEV1UL21 = ultralightEV1("MIFARE Ultralight EV1 UL21", size: 0x0E, userEnd: 35)

    /// NTAG203: 144 bytes.
    public static let ntag203 = Type2Product(
        "NTAG203",
        pageCount: 42,
        userPages: 4...39,
        capabilitySize: 0x12,
        factoryData: [0x01, 0x03, 0xA0, 0x10, 0x44, 0x03, 0x00, 0xFE],
        features: [.compatibilityWrite, .pageCounter],
        lockActivation: .nextActivation,
        dynamicLock: .ultralightC(tail: [41...41])
    )

    /// NTAG210: 48 bytes and a password.
    public static let ntag210 = ntag21x(
        "NTAG210",
        type: 0x01,
        size: 0x0B,
        userEnd: 15,
        capability: 0x06,
        pagesPerBit: nil
    )

    /// NTAG212: 128 bytes and a password.
    public static let ntag212 = ntag21x(
        "NTAG212",
        type: 0x01,
        size: 0x0E,
        userEnd: 35,
        capability: 0x10,
        pagesPerBit: 2,
        factoryData: [0x01, 0x03, 0x90, 0x0A, 0x34, 0x03, 0x00, 0xFE]
    )

    /// NTAG213: 144 bytes, a password, and a counter of readings.
    public static let ntag213 = ntag21x(
        "NTAG213",
        type: 0x02,
        size: 0x0F,
        userEnd: 39,
        capability: 0x12,
        pagesPerBit: 2,
        factoryData: [0x01, 0x03, 0xA0, 0x0C, 0x34, 0x03, 0x00, 0xFE]
    )

    /// NTAG215: 504 bytes. Its capability container announces 496 of them.
    public static let ntag215 = ntag21x(
        "NTAG215",
        type: 0x02,
        size: 0x11,
        userEnd: 129,
        capability: 0x3E,
        pagesPerBit: 16
    )

    /// NTAG216: 888 bytes. Its capability container announces 872 of them.
    public static let ntag216 = ntag21x(
        "NTAG216",
        type: 0x02,
        size: 0x13,
        userEnd: 225,
        capability: 0x6D,
        pagesPerBit: 16
    )

    /// NTAG I2C 1K, NT3H1101: 888 bytes.
    public static let ntagI2C1K = Type2Product(
        "NTAG I2C 1K",
        pageCount: 234,
        userPages: 4...225,
        version: [0x00, 0x04, 0x04, 0x05, 0x02, 0x01, 0x13, 0x03],
        capabilitySize: 0x6D,
        features: [.version, .fastRead, .sectors],
        dynamicLock: .ntag(page: 226, pagesPerBit: 16, lastPage: 225, lastByte: 0x00),
        factoryConfiguration: [232: [0x01, 0x00, 0xF8, 0x48], 233: [0x08, 0x01, 0x00, 0x00]]
    )

    /// NTAG I2C 2K, NT3H1201: 1904 bytes in two sectors.
    ///
    /// Only the first pages of the data sheet were available, so two details are guesses: a lock bit is for 32 pages;
    /// and a READ that goes past the last pages of a sector returns zeros there, or a refusal if it begins after them.
    public static let ntagI2C2K = Type2Product(
        "NTAG I2C 2K",
        pageCount: 490,
        userPages: 4...479,
        version: [0x00, 0x04, 0x04, 0x05, 0x02, 0x01, 0x15, 0x03],
        capabilitySize: 0xEA,
        features: [.version, .fastRead, .sectors],
        dynamicLock: .ntag(page: 480, pagesPerBit: 32, lastPage: 479, lastByte: 0x00),
        factoryConfiguration: [488: [0x01, 0x00, 0xF8, 0x48], 489: [0x08, 0x01, 0x00, 0x00]]
    )

    /// NTAG21x: the data pages, the dynamic lock page if there is one, and four configuration pages.
    private static func ntag21x(
        _ name: String,
        type: UInt8,
        size: UInt8,
        userEnd: Int,
        capability: UInt8,
        pagesPerBit: Int?,
        factoryData: [UInt8] = [0x03, 0x00, 0xFE, 0x00]
    ) -> Type2Product {
        let lock = pagesPerBit.map {
            LockField.ntag(page: userEnd + 1, pagesPerBit: $0, lastPage: userEnd, lastByte: 0xBD)
        }
        let configuration = userEnd + (lock == nil ? 1 : 2)
        var features: Features = [.compatibilityWrite, .version, .fastRead, .signature, .password, .mirror]
        if type == 0x02 { features.insert(.readingCounter) }
        return Type2Product(
            name,
            pageCount: configuration + 4,
            userPages: 4...userEnd,
            version: [0x00, 0x04, 0x04, type, 0x01, 0x00, size, 0x03],
            capabilitySize: capability,
            factoryData: factoryData,
            features: features,
            dynamicLock: lock,
            configurationPage: configuration,
            factoryConfiguration: [
                configuration: [type == 0x02 ? 0x04 : 0x00, 0, 0, 0xFF],
                configuration + 2: [0xFF, 0xFF, 0xFF, 0xFF],
            ]
        )
    }

    private static func ultralightEV1(_ name: String, size: UInt8, userEnd: Int) -> Type2Product {
        let lock: LockField? =
            userEnd > 15 ? .ntag(page: userEnd + 1, pagesPerBit: 2, lastPage: userEnd, lastByte: 0xBD) : nil
        let configuration = userEnd + (lock == nil ? 1 : 2)
        return Type2Product(
            name,
            pageCount: configuration + 4,
            userPages: 4...userEnd,
            version: [0x00, 0x04, 0x03, 0x01, 0x01, 0x00, size, 0x03],
            capabilitySize: userEnd > 15 ? 0x10 : 0x06,
            features: [.compatibilityWrite, .version, .fastRead, .signature, .password, .counters, .virtualCardSelect],
            dynamicLock: lock,
            configurationPage: configuration,
            factoryConfiguration: [
                configuration: [0x00, 0x00, 0x00, 0xFF],
                configuration + 1: [0x00, 0x05, 0x00, 0x00],
                configuration + 2: [0xFF, 0xFF, 0xFF, 0xFF],
            ]
        )
    }
}
