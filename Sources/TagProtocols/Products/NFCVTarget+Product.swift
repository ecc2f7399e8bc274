// SPDX-License-Identifier: Apache-2.0

extension NFCVTarget {
    /// The manufacturer's name, by the code in the UID (ISO/IEC 7816-6); nil when it isn't known.
    public var manufacturerName: String? {
        switch manufacturer {
        case 0x02: "STMicroelectronics"
        case 0x04: "NXP"
        case 0x05: "Infineon"
        case 0x07: "Texas Instruments"
        case 0x08: "Fujitsu"
        case 0x16: "EM Microelectronic"
        case 0x67: "ON Semiconductor"
        default: nil
        }
    }

    /// The product's name as far as the UID tells, such as `ICODE SLIX2`; nil when it does not.
    ///
    /// Where products of several sizes share a code, the name has them all.
    public var productName: String? {
        switch (manufacturer, uid[2]) {
        case (0x04, 0x01):
            // Bits 36 and 35 of the UID (NXP SL2S2602 data sheet, 9.3).
            switch uid[3] >> 3 & 3 {
            case 0b00: "ICODE SLI"
            case 0b01: "ICODE SLIX2"
            case 0b10: "ICODE SLIX"
            default: "ICODE DNA"
            }
        case (0x04, 0x02): uid[3] >> 4 & 1 == 0 ? "ICODE SLI-S" : "ICODE SLIX-S"
        case (0x04, 0x03): uid[3] >> 4 & 1 == 0 ? "ICODE SLI-L" : "ICODE SLIX-L"
        case (0x02, 0x08): "ST25TV512C/02KC"
        case (0x02, 0x23): "ST25TV512/02K"
        case (0x02, 0x24), (0x02, 0x25): "ST25DV04K"
        case (0x02, 0x26), (0x02, 0x27): "ST25DV16K/64K"
        case (0x02, 0x48): "ST25TV16K/64K"
        case (0x02, 0x2C), (0x02, 0x2D), (0x02, 0x2E), (0x02, 0x2F): "M24LR64"
        case (0x02, 0x44), (0x02, 0x45), (0x02, 0x46), (0x02, 0x47): "LRIS64K"
        case (0x02, 0x4C), (0x02, 0x4D), (0x02, 0x4E), (0x02, 0x4F): "M24LR16E"
        case (0x02, 0x58), (0x02, 0x59), (0x02, 0x5A), (0x02, 0x5B): "M24LR04E"
        case (0x02, 0x5C), (0x02, 0x5D), (0x02, 0x5E), (0x02, 0x5F): "M24LR64E"
        case (0x08, 0x01): "MB89R118C"
        case (0x08, 0x02): "MB89R119B"
        default: nil
        }
    }
}
