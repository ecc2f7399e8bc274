// SPDX-License-Identifier: Apache-2.0

extension NFCFTarget {
    /// The product's name by its IC code, such as `FeliCa Lite-S`; nil when it isn't known.
    public var productName: String? {
        switch icCode {
        case 0xF0: "FeliCa Lite"
        case 0xF1: "FeliCa Lite-S"
        case 0xF2: "FeliCa Link"
        case 0xE0, 0xE1: "FeliCa Plug"
        // RC-S915, RC-S954, RC-S960, RC-S962, SD2 and their like.
        case 0x00...0x02, 0x08...0x0D, 0x20, 0x32, 0x35, 0x44...0x46: "FeliCa Standard"
        // Mobile FeliCa.
        case 0x06, 0x07, 0x10...0x1F: "Mobile FeliCa"
        default: nil
        }
    }
}

extension Type1Target {
    /// The product's name by HR0 and HR1, such as `Topaz 96`; nil when it isn't known.
    public var productName: String? {
        switch (headerROM0, headerROM1) {
        case (0x11, 0x48): "Topaz 96"
        case (0x12, 0x4C): "Topaz 512"
        default: nil
        }
    }
}
