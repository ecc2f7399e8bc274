// SPDX-License-Identifier: Apache-2.0

extension ExchangeInterpreter {
    /// Describes a block from the reader (ISO/IEC 14443-4, 7.1).
    mutating func meaning(ofBlock bytes: [UInt8]) -> String {
        guard let pcb = bytes.first else { return "nothing" }
        if pcb & 0xF0 == 0xD0, bytes.count <= 3 {
            expectation = .parameterSelection
            return "PPS"
        }
        expectation = .block
        let payload = Self.payload(bytes)
        switch pcb & 0xE2 {
        case 0x02:
            let isFirst = !requestGoesOn
            requestGoesOn = pcb & 0x10 != 0
            partialAnswer = []
            let goesOn = requestGoesOn ? ", goes on" : ""
            return (isFirst ? card.meaning(ofCommand: payload) : "\(Self.size(payload)) more") + goesOn
        case 0xA2: return pcb & 0x10 == 0 ? "R(ACK): go on" : "R(NAK): again"
        case 0xE2: return "S(WTX): time is given"
        case 0xC2:
            isISODEP = false
            expectation = .anything
            return "S(DESELECT): sleep"
        default: return Self.size(bytes)
        }
    }

    /// Describes a block from the card.
    mutating func meaning(ofAnswerBlock bytes: [UInt8]) -> String {
        guard let pcb = bytes.first else { return "nothing" }
        let payload = Self.payload(bytes)
        switch pcb & 0xE2 {
        case 0x02:
            partialAnswer += payload
            if pcb & 0x10 != 0 { return "\(Self.size(payload)), goes on" }
            defer { partialAnswer = [] }
            return card.meaning(ofAnswer: partialAnswer)
        case 0xA2: return pcb & 0x10 == 0 ? "R(ACK): go on" : "R(NAK)"
        case 0xE2: return "S(WTX): \(Int(payload.first ?? 0) & 0x3F) times the time is needed"
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
