// SPDX-License-Identifier: Apache-2.0
import TagLink

extension ExchangeInterpreter {
    /// Describes a frame of NFC-A (ISO/IEC 14443-3, 6; NFC Forum T1T, T2T).
    mutating func meaningNFCA(_ request: Frame) -> String {
        let bytes = request.bytes
        if request.validBitsInLastByte == 7, bytes.count == 1, bytes[0] == 0x26 || bytes[0] == 0x52 {
            let name = bytes[0] == 0x26 ? "REQA" : "WUPA"
            fieldChanged()
            expectation = .atqA
            return name
        }
        if let level = Self.level(bytes) { return anticollision(bytes, level) }
        if request.checksum == .crcB {
            let words = Type1Words.request(bytes)
            expectation = .type1(bytes.first ?? 0)
            return words
        }
        if bytes == [0x50, 0x00] {
            fieldChanged()
            return "HLTA: sleep"
        }
        if isISODEP { return meaning(ofBlock: bytes) }
        if bytes.count == 2, bytes[0] == 0xE0 {
            expectation = .answerToSelect
            return "RATS: begin ISO-DEP, CID \(bytes[1] & 0x0F)"
        }
        if selectsSector {
            selectsSector = false
            return "SECTOR SELECT \((bytes.first ?? 0).hexText(digits: 2)), second packet; silence is a yes"
        }
        if bytes.count == 2, bytes == [0xC2, 0xFF] { selectsSector = true }
        expectation = .type2(bytes.first ?? 0)
        return Type2Words.request(bytes, hidesData: hidesData)
    }

    private static func level(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 2, bytes[1] >= 0x20, bytes[1] <= 0x70, bytes[1] & 0x0F < 8 else { return nil }
        return [0x93: 1, 0x95: 2, 0x97: 3][bytes[0]]
    }

    private mutating func anticollision(_ bytes: [UInt8], _ level: Int) -> String {
        isISODEP = false
        if bytes[1] == 0x70 {
            expectation = .select
            return "SELECT, level \(level): \(bytes.dropFirst(2).prefix(4).hexText())"
        }
        expectation = .anticollision
        let bits = (Int(bytes[1] >> 4) - 2) * 8 + Int(bytes[1] & 0x0F)
        return "ANTICOLLISION, level \(level)" + (bits == 0 ? "" : ", \(counted(bits, "bit")) known")
    }
}

/// The answers of NFC-A tags during activation (ISO/IEC 14443-3, 6.5).
enum NFCAWords {
    static func answer(_ answer: Frame, _ expectation: ExchangeInterpreter.Expectation) -> String {
        let bytes = answer.bytes
        switch expectation {
        case .atqA where bytes.count == 2:
            if bytes[0] == 0x00, bytes[1] & 0x0F == 0x0C { return "ATQA: a Type 1 tag" }
            return "ATQA: UID of \([4, 7, 10][min(2, Int(bytes[0] >> 6))]) bytes"
        case .select where bytes.count == 1:
            let sak = bytes[0]
            if sak & 0x04 != 0 { return "SAK: the UID goes on" }
            let kind = sak & 0x20 != 0 ? ", ISO-DEP" : sak & 0x18 != 0 ? ", MIFARE Classic" : sak == 0 ? ", Type 2" : ""
            return "SAK: selected" + kind
        case .anticollision: return bytes.first == 0x88 ? "a UID's part, which goes on" : "a UID's part"
        default: return ExchangeInterpreter.size(bytes)
        }
    }
}
