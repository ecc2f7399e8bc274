// SPDX-License-Identifier: Apache-2.0
import TagLink

extension ExchangeInterpreter {
    /// Describes a frame of NFC-B (ISO/IEC 14443-3, 7).
    mutating func meaningNFCB(_ octets: [UInt8]) -> String {
        if octets.count == 3, octets[0] == 0x05 {
            let slots = 1 << min(4, Int(octets[2] & 0x07))
            let name = octets[2] & 0x08 == 0 ? "REQB" : "WUPB"
            fieldChanged()
            expectation = .atqB
            return "\(name), \(counted(slots, "slot"))"
        }
        if octets.count == 1, octets[0] & 0x0F == 0x05, !isISODEP {
            expectation = .atqB
            return "SLOT MARKER \(Int(octets[0] >> 4) + 1)"
        }
        if octets.count >= 9, octets[0] == 0x1D {
            expectation = .attribute
            return "ATTRIB: select \(octets[1..<5].hexText())"
        }
        if octets.count == 5, octets[0] == 0x50 {
            fieldChanged()
            return "HLTB: sleep \(octets[1...].hexText())"
        }
        return isISODEP ? meaning(ofBlock: octets) : Self.size(octets)
    }
}

/// The answers of NFC-B cards during activation.
enum NFCBWords {
    static func answer(_ octets: [UInt8]) -> String {
        guard octets.count >= 12, octets[0] == 0x50 else { return ExchangeInterpreter.size(octets) }
        return "ATQB of \(octets[1..<5].hexText())" + (octets[10] & 0x01 == 0 ? "" : ", ISO-DEP")
    }
}
