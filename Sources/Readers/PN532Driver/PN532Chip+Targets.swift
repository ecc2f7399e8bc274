// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// Finds targets, and makes a target ready for commands again.
extension PN532Chip {
    /// How long the field must be off to reset every tag, and on before the first request, in microseconds (NFC Forum
    /// Digital 2.3: 5.1 ms each).
    private static let fieldTime: UInt32 = 6000

    func restartField() throws(LinkError) {
        try setField(false)
        usleep(Self.fieldTime)
        try setField(true)
        usleep(Self.fieldTime)
    }

    /// Polls once for all targets in the field, technology by technology.
    ///
    /// NFC-A comes last, because most tags use it, and the target found last is ready for commands at once. Returns the
    /// targets, and the index of the target that is selected now, if any.
    func findTargets(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) throws(LinkError) -> (found: [ListedTarget], ready: Int?) {
        try restartField()
        var found: [ListedTarget] = []
        var last: [ListedTarget] = []
        if technologies.contains(.nfcB) {
            last = try findNFCB().map { [$0] } ?? []
            found += last
        }
        if technologies.contains(.nfcF) {
            for code in systemCodes {
                last = try findNFCF(code).filter { new in !found.contains { $0.identity.isSameTag(as: new.identity) } }
                found += last
            }
        }
        if technologies.contains(.nfcA) {
            last = try findNFCA()
            if last.isEmpty { last = try findType1().map { [$0] } ?? [] }
            found += last
        }
        return (found, last.count == 1 ? found.count - 1 : nil)
    }

    // MARK: NFC-A

    /// - Parameter uid: the UID of the wanted card; empty for any card.
    private func findNFCA(uid: [UInt8] = []) throws(LinkError) -> [ListedTarget] {
        try list(.nfcA, limit: uid.isEmpty ? 2 : 1, Self.cascade(uid)).nfcA()
    }

    /// Returns a UID in the form that the chip expects: with a cascade tag before each level except the last.
    private static func cascade(_ uid: [UInt8]) -> [UInt8] {
        let tag: [UInt8] = [0x88]
        return switch uid.count {
        case 7: tag + uid
        case 10: tag + uid[0..<3] + tag + uid[3...]
        default: uid
        }
    }

    private func findType1() throws(LinkError) -> ListedTarget? {
        try list(.type1, limit: 1, []).type1()
    }

    // MARK: NFC-B

    /// Finds a card and leaves it waiting for the host's ATTRIB.
    ///
    /// The chip itself starts ISO-DEP with frames of 64 bytes. So the chip is told to end ISO-DEP, and the card is
    /// woken again. The host's own ISO-DEP uses frames four times as long, and grants the card all the time that it
    /// requests.
    private func findNFCB() throws(LinkError) -> ListedTarget? {
        guard try list(.nfcB, limit: 1, [0x00]).hasNFCB() else { return nil }
        _ = try ifAnswered { () throws(LinkError) in try sendOnce(.inDeselect, [0x01], limit: limits.own) }
        return try wakeNFCB()
    }

    /// Sends WUPB. Returns the card; nil when no card answers, or more than one.
    private func wakeNFCB() throws(LinkError) -> ListedTarget? {
        let answer = try ifAnswered { () throws(LinkError) in
            try communicate([0x05, 0x00, 0x08], timeout: Self.requestTimeout)
        }
        guard let answer, [12, 13].contains(answer.count), answer[0] == 0x50 else { return nil }
        return ListedTarget(identity: .nfcB(answer: answer), target: .nfcB(pupi: Array(answer[1..<5])))
    }

    /// How long a tag may take to answer a request, including adapter delays.
    private static let requestTimeout = Airtime.milliseconds(5)

    // MARK: NFC-F

    /// Polls for a system, first in one slot, which works with most chips and cards. If that finds nothing, polls in
    /// four slots, which can distinguish two cards.
    private func findNFCF(_ systemCode: UInt16) throws(LinkError) -> [ListedTarget] {
        for timeSlots: UInt8 in [0, 3] {
            let request = [0x00, UInt8(systemCode >> 8), UInt8(systemCode & 0xFF), 0x01, timeSlots]
            let list = try list(.nfcF212, limit: 2, request)
            guard list.count > 0 else { continue }
            return try list.nfcF(polled: systemCode)
        }
        return []
    }

    // MARK: Waking

    /// Makes a tag ready for commands again, after the tag refused a command or another tag was selected.
    ///
    /// At first, the field is not restarted, because a restart changes random identifiers. Throws `LinkError` with
    /// `tagRemoved` when the tag does not answer, `readerUnavailable` or `cancelled`.
    func wake(_ target: TagHandle.Target) throws(LinkError) {
        switch target {
        case .nfcA(let uid, let sak):
            if sak & 0x20 != 0, modulation == .nfcA {
                try deselect()
                if try select(uid, sak) { return }
            }
            if try isFound(uid, sak) { return }
            try restartField()
            if try isFound(uid, sak) { return }
        case .type1(let uid):
            for _ in 0..<2 {
                if case .type1(uid)? = try findType1()?.target { return }
            }
        case .nfcB(let pupi):
            if modulation == .nfcB {
                try deselect()
                if case .nfcB(pupi)? = try wakeNFCB()?.target { return }
            }
            if case .nfcB(pupi)? = try findNFCB()?.target { return }
            try restartField()
            if case .nfcB(pupi)? = try findNFCB()?.target { return }
        case .nfcF(let idm, let systemCode):
            for _ in 0..<2 {
                for found in try findNFCF(systemCode) {
                    if case .nfcF(idm, _) = found.target { return }
                }
            }
        }
        throw LinkError(.tagRemoved, "The tag no longer answers.")
    }

    private func isFound(_ uid: [UInt8], _ sak: UInt8) throws(LinkError) -> Bool {
        try findNFCA(uid: uid).contains { $0.target == .nfcA(uid: uid, sak: sak) }
    }

    /// Ends the host's ISO-DEP with S(DESELECT), if it was started (ISO/IEC 14443-4, 8).
    private func deselect() throws(LinkError) {
        if modulation == .nfcA { try setFraming(appendsChecksum: true, removesChecksum: false) }
        _ = try ifAnswered { () throws(LinkError) in try communicate([0xC2], timeout: Self.requestTimeout) }
    }

    /// Wakes a card from HALT with WUPA, and selects it by its UID. InListPassiveTarget can't wake such a card.
    private func select(_ uid: [UInt8], _ sak: UInt8) throws(LinkError) -> Bool {
        let selectAcknowledge = try ifAnswered { () throws(LinkError) -> UInt8? in
            try setFraming(appendsChecksum: false, removesChecksum: false, bitsOfLastByte: 7)
            guard try communicate([0x52], timeout: Self.requestTimeout).count == 2 else { return nil }
            try setFraming(appendsChecksum: true, removesChecksum: false)
            var selectAcknowledge: UInt8?
            for (level, part) in Self.levels(of: uid).enumerated() {
                let command = [0x93 + UInt8(level) * 2, 0x70] + part + [part.reduce(0, ^)]
                let answer = try communicate(command, timeout: Self.requestTimeout)
                guard answer.count == 3 else { return nil }
                selectAcknowledge = answer[0]
            }
            return selectAcknowledge
        }
        return selectAcknowledge == sak
    }

    /// Returns the result of exchanges with a tag; nil when the tag did not answer one of them.
    private func ifAnswered<Value>(_ exchanges: () throws(LinkError) -> Value?) throws(LinkError) -> Value? {
        do throws(LinkError) {
            return try exchanges()
        } catch {
            guard error.concernsTag else { throw error }
            return nil
        }
    }

    /// Returns the four bytes of each cascade level (ISO/IEC 14443-3, 6.5.4).
    private static func levels(of uid: [UInt8]) -> [[UInt8]] {
        switch uid.count {
        case 7: [[0x88] + uid[0..<3], Array(uid[3...])]
        case 10: [[0x88] + uid[0..<3], [0x88] + uid[3..<6], Array(uid[6...])]
        default: [uid]
        }
    }
}

extension DiscoveredTag.Identity {
    /// Returns whether two polls for different systems found the same FeliCa card.
    fileprivate func isSameTag(as other: DiscoveredTag.Identity) -> Bool {
        guard case .nfcF(let idm, _, _) = self, case .nfcF(let otherIDm, _, _) = other else { return false }
        return idm.isIDmOfSameCard(as: otherIDm)
    }
}

extension LinkError {
    /// Whether the error concerns a tag or one exchange, and not the reader or the caller.
    var concernsTag: Bool { ![.readerUnavailable, .cancelled, .unsupported].contains(code) }
}

/// A tag that was found by the chip.
struct TagHandle: Sendable, Equatable {
    /// The data needed to find the tag again.
    enum Target: Sendable, Equatable {
        case nfcA(uid: [UInt8], sak: UInt8)
        /// A Type 1 tag, with the four UID bytes that it reports.
        case type1(uid: [UInt8])
        case nfcB(pupi: [UInt8])
        /// A FeliCa tag, and the polled system code.
        case nfcF(idm: [UInt8], systemCode: UInt16)

        /// Whether the chip authenticates to the tag with its own cipher.
        var isClassic: Bool { if case .nfcA(_, let sak) = self { sak & 0x28 == 0x08 } else { false } }

        var technology: Technology {
            switch self {
            case .nfcA, .type1: .nfcA
            case .nfcB: .nfcB
            case .nfcF: .nfcF
            }
        }
    }

    var target: Target
    var generation: Int
}

/// The data that a tag reported about itself, and the data needed to find the tag again.
struct ListedTarget: Sendable {
    var identity: DiscoveredTag.Identity
    var target: TagHandle.Target
}

/// The data that a PN532 returns about the targets it found (PN532 user manual, 7.3.5). Call the method that matches
/// the modulation of the poll.
///
/// All methods throw `LinkError` with `transmission` when the data can't be parsed.
struct TargetList: Sendable {
    /// The number of targets: at most 2.
    var count: Int
    var data: [UInt8]

    func nfcA() throws(LinkError) -> [ListedTarget] {
        var rest = data[...]
        var found: [ListedTarget] = []
        for _ in 0..<count {
            // Target number, SENS_RES with the high byte first, SEL_RES, length of the UID.
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

    func type1() throws(LinkError) -> ListedTarget? {
        guard count > 0 else { return nil }
        guard data.count >= 7 else { throw Self.unreadable }
        let uid = Array(data[3..<7])
        // All Type 1 tags have this ATQA. Some firmware reports it in the other byte order.
        return ListedTarget(identity: .nfcA(atqa: 0x0C00, sak: nil, uid: uid), target: .type1(uid: uid))
    }

    func hasNFCB() throws(LinkError) -> Bool {
        guard count > 0 else { return false }
        guard data.count >= 13, data[1] == 0x50 else { throw Self.unreadable }
        return true
    }

    func nfcF(polled: UInt16) throws(LinkError) -> [ListedTarget] {
        var rest = data[...]
        var found: [ListedTarget] = []
        for _ in 0..<count {
            // The target number, then the polling answer, starting with its length.
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
