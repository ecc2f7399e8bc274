// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// Describes the frames between a reader and a tag in words: `READ 04`, `SELECT NDEF application`, `INVENTORY`.
///
/// The meaning of a frame depends on the frames before it, so pass every frame in order. The interpreter knows the
/// commands of Type 1 to Type 5 tags, ISO-DEP and ISO/IEC 7816-4, FeliCa, ISO/IEC 15693 and MIFARE products. It
/// describes any other frame by its number of bytes. It accepts any input and never fails.
package struct ExchangeInterpreter: Sendable {
    enum Expectation: Sendable, Equatable {
        case anything, anticollision, atqA, select, atqB, attribute, answerToSelect, parameterSelection
        case type1(UInt8)
        /// A command of a Type 2 tag or MIFARE Classic.
        case type2(UInt8)
        case block, felica
        case nfcV(UInt8)
        case command
    }

    private var expectation = Expectation.anything
    /// Whether frames of NFC-A and NFC-B contain ISO-DEP blocks.
    private var isISODEP = false
    /// Whether the next frame is the second packet of a SECTOR SELECT.
    private var selectsSector = false
    /// Whether the data of the next write must not be shown.
    var hidesData = false
    /// The interpreter for the commands inside blocks.
    private var card = CommandInterpreter()
    /// Whether the command continues in the next block.
    private var hasMoreRequest = false
    /// The part received so far of an answer in several blocks.
    private var partialAnswer: [UInt8] = []

    package init() {}

    /// Forgets all previous frames. Call it when the field was turned off or on, or another tag may be near.
    package mutating func fieldChanged() { self = ExchangeInterpreter() }

    /// Describes a request in a few words.
    package mutating func meaning(of request: Frame, over medium: Trace.Medium) -> String {
        expectation = .anything
        switch medium {
        case .commands:
            expectation = .command
            return card.meaning(ofCommand: request.bytes)
        case .frames(.nfcA): return meaningNFCA(request)
        case .frames(.nfcB): return meaningNFCB(request.bytes)
        case .frames(.nfcF):
            expectation = .felica
            return FeliCaWords.request(request.bytes)
        case .frames(.nfcV): return meaningNFCV(request.bytes)
        }
    }

    /// Describes the answer to the last request in a few words.
    package mutating func meaning(ofAnswer answer: Frame) -> String {
        let bytes = answer.bytes
        switch expectation {
        case .command: return card.meaning(ofAnswer: bytes)
        case .block: return meaning(ofAnswerBlock: bytes)
        case .felica: return FeliCaWords.answer(bytes)
        case .nfcV(let command): return ISO15693Words.answer(bytes, to: command)
        case .atqB: return NFCBWords.answer(bytes)
        case .attribute:
            isISODEP = true
            return "selected"
        case .answerToSelect:
            isISODEP = true
            return "ATS" + (bytes.first.map { Int($0) == bytes.count } == true ? "" : ", of a wrong length")
        case .parameterSelection: return "PPS accepted"
        case .anticollision, .atqA, .select: return NFCAWords.answer(answer, expectation)
        case .type1(let command): return Type1Words.answer(bytes, to: command)
        case .type2(let command):
            // Unless the tag acknowledges the first packet of a SECTOR SELECT, no second packet follows.
            if command == 0xC2, answer.nibble != 0xA { selectsSector = false }
            return Type2Words.answer(answer, to: command)
        case .anything: return Self.size(bytes)
        }
    }

    /// Describes an unknown frame by its number of bytes.
    static func size(_ bytes: [UInt8]) -> String { counted(bytes.count, "byte") }

    // MARK: NFC-A

    /// Describes a frame of NFC-A (ISO/IEC 14443-3, 6; NFC Forum T1T, T2T).
    private mutating func meaningNFCA(_ request: Frame) -> String {
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
            return "SECTOR SELECT \((bytes.first ?? 0).hexText(digits: 2)), second packet; no answer means success"
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

    // MARK: NFC-B

    /// Describes a frame of NFC-B (ISO/IEC 14443-3, 7).
    private mutating func meaningNFCB(_ bytes: [UInt8]) -> String {
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

    // MARK: NFC-V

    /// Describes a frame of NFC-V, starting with the flags (ISO/IEC 15693-3, 7.3).
    private mutating func meaningNFCV(_ bytes: [UInt8]) -> String {
        guard bytes.count >= 2 else { return bytes.isEmpty ? "end of frame: next slot, or answer now" : "1 byte" }
        expectation = .nfcV(bytes[1])
        return ISO15693Words.request(bytes)
    }

    // MARK: ISO-DEP

    /// Describes a block from the reader (ISO/IEC 14443-4, 7.1).
    private mutating func meaning(ofBlock bytes: [UInt8]) -> String {
        guard let pcb = bytes.first else { return "nothing" }
        if pcb & 0xF0 == 0xD0, bytes.count <= 3 {
            expectation = .parameterSelection
            return "PPS"
        }
        expectation = .block
        let payload = Self.payload(bytes)
        switch pcb & 0xE2 {
        case 0x02:
            let isFirst = !hasMoreRequest
            hasMoreRequest = pcb & 0x10 != 0
            partialAnswer = []
            let continuation = hasMoreRequest ? ", continues" : ""
            return (isFirst ? card.meaning(ofCommand: payload) : "\(Self.size(payload)) more") + continuation
        case 0xA2: return pcb & 0x10 == 0 ? "R(ACK): continue" : "R(NAK): again"
        case 0xE2: return "S(WTX): time granted"
        case 0xC2:
            isISODEP = false
            expectation = .anything
            return "S(DESELECT): sleep"
        default: return Self.size(bytes)
        }
    }

    private mutating func meaning(ofAnswerBlock bytes: [UInt8]) -> String {
        guard let pcb = bytes.first else { return "nothing" }
        let payload = Self.payload(bytes)
        switch pcb & 0xE2 {
        case 0x02:
            partialAnswer += payload
            if pcb & 0x10 != 0 { return "\(Self.size(payload)), continues" }
            defer { partialAnswer = [] }
            return card.meaning(ofAnswer: partialAnswer)
        case 0xA2: return pcb & 0x10 == 0 ? "R(ACK): continue" : "R(NAK)"
        case 0xE2: return "S(WTX): needs \(Int(payload.first ?? 0) & 0x3F) times the waiting time"
        case 0xC2: return "S(DESELECT): sleeps"
        default: return Self.size(bytes)
        }
    }

    /// Returns the payload of a block: its bytes without PCB, CID and NAD.
    private static func payload(_ bytes: [UInt8]) -> [UInt8] {
        guard let pcb = bytes.first else { return [] }
        let head = 1 + (pcb & 0x08 == 0 ? 0 : 1) + (pcb & 0xE6 == 0x06 ? 1 : 0)
        return Array(bytes.dropFirst(head))
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
            if sak & 0x04 != 0 { return "SAK: the UID continues" }
            let kind = sak & 0x20 != 0 ? ", ISO-DEP" : sak & 0x18 != 0 ? ", MIFARE Classic" : sak == 0 ? ", Type 2" : ""
            return "SAK: selected" + kind
        case .anticollision: return bytes.first == 0x88 ? "part of a UID, continues" : "part of a UID"
        default: return ExchangeInterpreter.size(bytes)
        }
    }
}

enum NFCBWords {
    static func answer(_ bytes: [UInt8]) -> String {
        guard bytes.count >= 12, bytes[0] == 0x50 else { return ExchangeInterpreter.size(bytes) }
        return "ATQB of \(bytes[1..<5].hexText())" + (bytes[10] & 0x01 == 0 ? "" : ", ISO-DEP")
    }
}
