// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A PN532's data about the targets that it has listed (PN532 user manual, 7.3.5). The modulation of the list
/// determines how to parse it.
///
/// All methods throw `LinkError` with `transmission` when the data can't be parsed.
struct TargetList: Sendable {
    /// The number of targets: 2 at most.
    var count: Int
    /// The data after that number.
    var data: [UInt8]

    /// NFC-A tags.
    func nfcA() throws(LinkError) -> [ListedTarget] {
        var rest = data[...]
        var found: [ListedTarget] = []
        for _ in 0..<count {
            // Number, SENS_RES with its high byte first, SEL_RES, length of the UID.
            guard let head = Self.take(5, from: &rest), [4, 7, 10].contains(head[4]),
                let uid = Self.take(Int(head[4]), from: &rest)
            else { throw Self.unreadable }
            let identity = DiscoveredTag.Identity.nfcA(
                atqa: UInt16(high: head[1], low: head[2]),
                sak: head[3],
                uid: uid
            )
            found.append(ListedTarget(identity: identity, target: .nfcA(uid: uid, sak: head[3])))
        }
        return found
    }

    /// A Type 1 tag; nil for none.
    func type1() throws(LinkError) -> ListedTarget? {
        guard count > 0 else { return nil }
        guard data.count >= 7 else { throw Self.unreadable }
        let uid = Array(data[3..<7])
        // All Type 1 tags have this ATQA. Some firmware reports it in the other byte order.
        return ListedTarget(identity: .nfcA(atqa: 0x0C00, sak: nil, uid: uid), target: .type1(uid: uid))
    }

    /// Whether there is an NFC-B card.
    func hasNFCB() throws(LinkError) -> Bool {
        guard count > 0 else { return false }
        guard data.count >= 13, data[1] == 0x50 else { throw Self.unreadable }
        return true
    }

    /// FeliCa tags.
    ///
    /// - Parameter polled: the system that was polled for.
    func nfcF(polled: UInt16) throws(LinkError) -> [ListedTarget] {
        var rest = data[...]
        var found: [ListedTarget] = []
        for _ in 0..<count {
            // The target number, and the answer to polling from its length on.
            guard Self.take(1, from: &rest) != nil, let length = rest.first, length == 18 || length == 20,
                let answer = Self.take(Int(length), from: &rest), answer[1] == 0x01
            else { throw Self.unreadable }
            let idm = Array(answer[2..<10])
            var code: UInt16? = polled >> 8 == 0xFF || polled & 0xFF == 0xFF ? nil : polled
            if answer.count == 20 { code = UInt16(high: answer[18], low: answer[19]) }
            let identity = DiscoveredTag.Identity.nfcF(idm: idm, pmm: Array(answer[10..<18]), systemCode: code)
            found.append(ListedTarget(identity: identity, target: .nfcF(idm: idm, systemCode: polled)))
        }
        return found
    }

    private static func take(_ count: Int, from rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest.removeFirst(count) }
        return Array(rest.prefix(count))
    }

    private static let unreadable = LinkError(.transmission, "The PN532's list of targets can't be read.")
}
