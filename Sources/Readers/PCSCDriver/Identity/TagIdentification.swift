// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Identifies the tag in a reader with GET DATA FF CA (PC/SC part 3, 3.2.2.1.3) and its ATR.
enum TagIdentification {
    /// The tag's identifier: UID, PUPI or IDm.
    ///
    /// - Returns: the identifier; empty when the reader does not report one.
    static func identifier(_ connection: CardConnection) throws(LinkError) -> [UInt8] {
        let answer = try connection.ask([0xFF, 0xCA, 0x00, 0x00, 0x00])
        return answer.isDone ? answer.data : []
    }

    /// The ATS of a Type A card, from TL on, if the reader reports it; else an ATS made from the reported historical
    /// bytes.
    static func answerToSelect(_ connection: CardConnection) throws(LinkError) -> (told: Bool, bytes: [UInt8])? {
        let answer = try connection.ask([0xFF, 0xCA, 0x01, 0x00, 0x00])
        guard answer.isDone else { return nil }
        // The standard asks for the historical bytes only, but many readers return the whole ATS.
        if let length = answer.data.first, Int(length) == answer.data.count { return (true, answer.data) }
        return (true, makeAnswerToSelect(historicalBytes: answer.data))
    }

    /// An ATS that has only historical bytes. The reader handles frame sizes and times: FSCI 8, the largest.
    static func makeAnswerToSelect(historicalBytes: [UInt8]) -> [UInt8] {
        let historicalBytes = historicalBytes.prefix(253)
        return [UInt8(2 + historicalBytes.count), 0x08] + historicalBytes
    }

    /// The identity of a card with ISO-DEP.
    ///
    /// - Parameters:
    ///   - answer: its ATR.
    ///   - identifier: the identifier that the reader reports; empty for none.
    ///   - answerToSelect: the ATS, if the reader reported it.
    static func card(
        _ answer: AnswerToReset,
        identifier: [UInt8],
        answerToSelect: [UInt8]?
    ) -> (identity: DiscoveredTag.Identity, answerToSelect: [UInt8]?) {
        let historical = answer.historicalBytes
        // The historical bytes of a Type B card are its application data, protocol info and MBLI (PC/SC part 3,
        // 3.1.3.2.3.1). The protocol info says that the card supports ISO-DEP, and MBLI is the upper half of its byte.
        if answerToSelect == nil, answer.isContactless, identifier.count == 4, historical.count == 8,
            historical[5] & 0x01 != 0, historical[7] & 0x0F == 0
        {
            return (.nfcB(answer: [0x50] + identifier + historical[..<7]), nil)
        }
        let ats = answerToSelect ?? makeAnswerToSelect(historicalBytes: historical)
        let uid = uniqueIdentifier(identifier)
        return (.nfcA(atqa: atqa(uid, historicalBytes: historical), sak: 0x20, uid: uid), ats)
    }

    /// The reader does not report the ATQA. Its lower byte depends on the UID's size, and the upper one identifies a
    /// DESFire.
    private static func atqa(_ uid: [UInt8], historicalBytes: [UInt8]) -> UInt16 {
        let isDESFire = uid.count == 7 && uid.first == 0x04 && (historicalBytes.isEmpty || historicalBytes == [0x80])
        return isDESFire ? 0x0344 : atqa(uid)
    }

    /// The ATQA for the size of a UID (ISO/IEC 14443-3, 6.5.2).
    static func atqa(_ uid: [UInt8]) -> UInt16 {
        switch uid.count {
        case 7: 0x0044
        case 10: 0x0084
        default: 0x0004
        }
    }

    /// The reported UID of an NFC-A tag; empty when it can't be a UID (ISO/IEC 14443-3, 6.5.4).
    static func uniqueIdentifier(_ identifier: [UInt8]) -> [UInt8] {
        [4, 7, 10].contains(identifier.count) ? identifier : []
    }

    /// The UID of an ISO/IEC 15693 tag, starting with E0. Some readers report it in reverse order, as it is
    /// transmitted.
    static func vicinityIdentifier(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 8 else { return nil }
        if bytes[0] != 0xE0, bytes[7] == 0xE0 { return bytes.reversed() }
        return bytes
    }
}
