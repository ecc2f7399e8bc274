// SPDX-License-Identifier: Apache-2.0
import TagLink

/// What the reader says of the tag in it, by GET DATA FF CA (PC/SC part 3, 3.2.2.1.3), and what follows from its ATR.
enum TagIdentification {
    /// The tag's identifier: UID, PUPI or IDm.
    ///
    /// - Returns: nothing when the reader does not report one.
    static func identifier(_ connection: CardConnection) throws(LinkError) -> [UInt8] {
        let answer = try connection.ask([0xFF, 0xCA, 0x00, 0x00, 0x00])
        return answer.isDone ? answer.data : []
    }

    /// The ATS of a Type A card, from TL on, where the reader tells; else one with the ATR's historical bytes.
    static func answerToSelect(_ connection: CardConnection) throws(LinkError) -> (told: Bool, octets: [UInt8])? {
        let answer = try connection.ask([0xFF, 0xCA, 0x01, 0x00, 0x00])
        guard answer.isDone else { return nil }
        // The standard wants the historical bytes alone; many readers give the whole ATS.
        if let length = answer.data.first, Int(length) == answer.data.count { return (true, answer.data) }
        return (true, makeAnswerToSelect(historicalBytes: answer.data))
    }

    /// An ATS with nothing but its historical bytes. Frame sizes and times are the reader's affair: FSCI 8, the largest.
    static func makeAnswerToSelect(historicalBytes: [UInt8]) -> [UInt8] {
        let historicalBytes = historicalBytes.prefix(253)
        return [UInt8(2 + historicalBytes.count), 0x08] + historicalBytes
    }

    /// Who a card with ISO-DEP is.
    ///
    /// - Parameters:
    ///   - answer: its ATR.
    ///   - identifier: what the reader says of it; nothing when it does not tell.
    ///   - answerToSelect: the ATS, where the reader told it.
    static func card(
        _ answer: AnswerToReset,
        identifier: [UInt8],
        answerToSelect: [UInt8]?
    ) -> (identity: DiscoveredTag.Identity, answerToSelect: [UInt8]?) {
        let historical = answer.historicalBytes
        // A Type B card's are its application data, protocol info and MBLI (PC/SC part 3, 3.1.3.2.3.1). The protocol
        // info says that it speaks ISO-DEP, and MBLI fills the upper half of its byte.
        if answerToSelect == nil, answer.isContactless, identifier.count == 4, historical.count == 8,
            historical[5] & 0x01 != 0, historical[7] & 0x0F == 0
        {
            return (.nfcB(answer: [0x50] + identifier + historical[..<7]), nil)
        }
        let ats = answerToSelect ?? makeAnswerToSelect(historicalBytes: historical)
        let uid = uniqueIdentifier(identifier)
        return (.nfcA(atqa: atqa(uid, historicalBytes: historical), sak: 0x20, uid: uid), ats)
    }

    /// ATQA is not told. Its lower byte has the UID's size and the upper one what DESFire has, which are told apart so.
    private static func atqa(_ uid: [UInt8], historicalBytes: [UInt8]) -> UInt16 {
        let isDESFire = uid.count == 7 && uid.first == 0x04 && (historicalBytes.isEmpty || historicalBytes == [0x80])
        return isDESFire ? 0x0344 : atqa(uid)
    }

    /// The ATQA of a UID's size (ISO/IEC 14443-3, 6.5.2).
    static func atqa(_ uid: [UInt8]) -> UInt16 {
        switch uid.count {
        case 7: 0x0044
        case 10: 0x0084
        default: 0x0004
        }
    }

    /// What the reader reports as the UID of an NFC-A tag; nothing when it can't be one (ISO/IEC 14443-3, 6.5.4).
    static func uniqueIdentifier(_ identifier: [UInt8]) -> [UInt8] {
        [4, 7, 10].contains(identifier.count) ? identifier : []
    }

    /// The UID of an ISO/IEC 15693 tag from E0 on; some readers have it the other way round, as on the air.
    static func vicinityIdentifier(_ octets: [UInt8]) -> [UInt8]? {
        guard octets.count == 8 else { return nil }
        if octets[0] != 0xE0, octets[7] == 0xE0 { return octets.reversed() }
        return octets
    }
}

/// A reader's own answer to a pseudo-APDU: data, and the status word that says whether it was done.
struct ReaderAnswer: Hashable {
    var data: [UInt8]
    var status: UInt16

    /// Takes an answer apart; nil when there is no status word in it.
    init?(_ octets: [UInt8]) {
        guard octets.count >= 2 else { return nil }
        data = Array(octets.dropLast(2))
        status = UInt16(high: octets[octets.count - 2], low: octets[octets.count - 1])
    }

    /// Whether it was done.
    var isDone: Bool { status == 0x9000 }

    /// The status word in hexadecimal, as sentences have it.
    var statusText: String {
        let digits = String(status, radix: 16)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
