// SPDX-License-Identifier: Apache-2.0
import TagLink

extension ExchangeInterpreter {
    /// Describes a frame of NFC-B (ISO/IEC 14443-3, 7).
    mutating func meaningNFCB(_ bytes: [UInt8]) -> String {
        if bytes.count == 3, bytes[0] == 0x05 {
            let slots = 1 << min(4, Int(bytes[2] & 0x07))
            let name = bytes[2] & 0x08 == 0 ? "REQB" : "WUPB"
            fieldChanged()
            expectation = .atqB
            return "\(name), \(counted(slots, "slot"))"
        }
        if bytes.count == 1, bytes[0] & 0x0F == 0x05, !isISODEP {
            expectation = .atqB
            return "SLOT MARKER \(Int(bytes[0] >> 4) + 1)"
        }
        if bytes.count >= 9, bytes[0] == 0x1D {
            expectation = .attribute
            return "ATTRIB: select \(bytes[1..<5].hexText())"
        }
        if bytes.count == 5, bytes[0] == 0x50 {
            fieldChanged()
            return "HLTB: sleep \(bytes[1...].hexText())"
        }
        return isISODEP ? meaning(ofBlock: bytes) : Self.size(bytes)
    }
}

/// The answers of NFC-B cards during activation.
enum NFCBWords {
    static func answer(_ bytes: [UInt8]) -> String {
        guard bytes.count >= 12, bytes[0] == 0x50 else { return ExchangeInterpreter.size(bytes) }
        return "ATQB of \(bytes[1..<5].hexText())" + (bytes[10] & 0x01 == 0 ? "" : ", ISO-DEP")
    }
}
