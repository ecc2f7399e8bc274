// SPDX-License-Identifier: Apache-2.0
import TagLink

extension ExchangeInterpreter {
    /// Describes a frame of NFC-A (ISO/IEC 14443-3, 6; NFC Forum T1T, T2T).
    mutating func meaningNFCA(_ request: Frame) -> String {
        let octets = request.bytes
        if request.validBitsInLastByte == 7, octets.count == 1, octets[0] == 0x26 || octets[0] == 0x52 {
            let name = octets[0] == 0x26 ? "REQA" : "WUPA"
            fieldChanged()
            expectation = .atqA
            return name
        }
        if let level = Self.level(octets) { return anticollision(octets, level) }
        if request.checksum == .crcB {
            let words = Type1Words.request(octets)
            expectation = .type1(octets.first ?? 0)
            return words
        }
        if octets == [0x50, 0x00] {
            fieldChanged()
            return "HLTA: sleep"
        }
        if isISODEP { return meaning(ofBlock: octets) }
        if octets.count == 2, octets[0] == 0xE0 {
            expectation = .answerToSelect
            return "RATS: begin ISO-DEP, CID \(octets[1] & 0x0F)"
        }
        if selectsSector {
            selectsSector = false
            return "SECTOR SELECT \((octets.first ?? 0).hexText(digits: 2)), second packet; silence is a yes"
        }
        if octets.count == 2, octets == [0xC2, 0xFF] { selectsSector = true }
        expectation = .type2(octets.first ?? 0)
        return Type2Words.request(octets, hidesData: hidesData)
    }

    private static func level(_ octets: [UInt8]) -> Int? {
        guard octets.count >= 2, octets[1] >= 0x20, octets[1] <= 0x70, octets[1] & 0x0F < 8 else { return nil }
        return [0x93: 1, 0x95: 2, 0x97: 3][octets[0]]
    }

    private mutating func anticollision(_ octets: [UInt8], _ level: Int) -> String {
        isISODEP = false
        if octets[1] == 0x70 {
            expectation = .select
            return "SELECT, level \(level): \(octets.dropFirst(2).prefix(4).hexText())"
        }
        expectation = .anticollision
        let bits = (Int(octets[1] >> 4) - 2) * 8 + Int(octets[1] & 0x0F)
        return "ANTICOLLISION, level \(level)" + (bits == 0 ? "" : ", \(counted(bits, "bit")) known")
    }
}

/// The answers of NFC-A tags during activation (ISO/IEC 14443-3, 6.5).
enum NFCAWords {
    static func answer(_ answer: Frame, _ expectation: ExchangeInterpreter.Expectation) -> String {
        let octets = answer.bytes
        switch expectation {
        case .atqA where octets.count == 2:
            if octets[0] == 0x00, octets[1] & 0x0F == 0x0C { return "ATQA: a Type 1 tag" }
            return "ATQA: UID of \([4, 7, 10][min(2, Int(octets[0] >> 6))]) bytes"
        case .select where octets.count == 1:
            let sak = octets[0]
            if sak & 0x04 != 0 { return "SAK: the UID goes on" }
            let kind = sak & 0x20 != 0 ? ", ISO-DEP" : sak & 0x18 != 0 ? ", MIFARE Classic" : sak == 0 ? ", Type 2" : ""
            return "SAK: selected" + kind
        case .anticollision: return octets.first == 0x88 ? "a UID's part, which goes on" : "a UID's part"
        default: return ExchangeInterpreter.size(octets)
        }
    }
}

/// The commands of Type 1 tags (NFC Forum T1T 1.2, 5).
enum Type1Words {
    static func request(_ octets: [UInt8]) -> String {
        let address = octets.count > 1 ? " " + octets[1].hexText(digits: 2) : ""
        let value = octets.count > 2 ? ": " + octets[2].hexText(digits: 2).lowercased() : ""
        let values = octets.count > 9 ? ": " + octets[2..<10].hexText() : ""
        switch octets.first {
        case 0x78: return "RID: identify"
        case 0x00: return "RALL: read all"
        case 0x01: return "READ" + address
        case 0x53: return "WRITE-E" + address + value
        case 0x1A: return "WRITE-NE" + address + value
        case 0x10: return "RSEG" + (octets.count > 1 ? " \(octets[1] >> 4)" : "")
        case 0x02: return "READ8" + address
        case 0x54: return "WRITE-E8" + address + values
        case 0x1B: return "WRITE-NE8" + address + values
        default: return ExchangeInterpreter.size(octets)
        }
    }

    static func answer(_ octets: [UInt8], to command: UInt8) -> String {
        switch command {
        case 0x78 where octets.count == 6: "header ROM \(octets.prefix(2).hexText()), UID \(octets.suffix(4).hexText())"
        case 0x00: "header ROM and \(counted(max(0, octets.count - 2), "byte"))"
        case 0x01, 0x53, 0x1A, 0x02, 0x54, 0x1B, 0x10: "\(counted(max(0, octets.count - 1), "byte")) of memory"
        default: ExchangeInterpreter.size(octets)
        }
    }
}
