// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport
import TagLink

/// Polls once for all targets in the chip's field, technology by technology.
///
/// NFC-A is the last one: most tags use it, and the target that was found last is ready for commands at once.
struct TargetFinder {
    let chip: PN532Chip
    let cancellation: Cancellation

    /// How long the field stays off so that every tag is reset, and how long it is on before the first request (NFC
    /// Forum Digital 2.3: 5.1 ms each).
    private static let fieldTime: UInt32 = 6000

    /// Switches the field off and on again.
    func restartField() throws(LinkError) {
        try chip.setField(false, cancellation)
        usleep(Self.fieldTime)
        try chip.setField(true, cancellation)
        usleep(Self.fieldTime)
    }

    /// Polls for targets.
    ///
    /// - Returns: the targets found, and the index of the one that is selected now, if any.
    func find(
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

    /// - Parameter uid: the UID of the wanted card; empty for any.
    func findNFCA(uid: [UInt8] = []) throws(LinkError) -> [ListedTarget] {
        try chip.list(.nfcA, limit: uid.isEmpty ? 2 : 1, Self.cascade(uid), cancellation).nfcA()
    }

    /// A UID in the form that the chip expects: with a cascade tag before each level except the last.
    private static func cascade(_ uid: [UInt8]) -> [UInt8] {
        let tag: [UInt8] = [0x88]
        return switch uid.count {
        case 7: tag + uid
        case 10: tag + uid[0..<3] + tag + uid[3...]
        default: uid
        }
    }

    func findType1() throws(LinkError) -> ListedTarget? {
        try chip.list(.type1, limit: 1, [], cancellation).type1()
    }

    // MARK: NFC-B

    /// Finds a card that then waits for the host's ATTRIB.
    ///
    /// The chip starts ISO-DEP by itself, with frames of 64 bytes. So the chip is asked to end it, and the card is
    /// woken again. The host's own ISO-DEP has frames four times as long, and gives the card as much time as it asks
    /// for.
    func findNFCB() throws(LinkError) -> ListedTarget? {
        guard try chip.list(.nfcB, limit: 1, [0x00], cancellation).hasNFCB() else { return nil }
        do throws(LinkError) {
            try chip.deselect(cancellation)
        } catch {
            guard error.isAboutTag else { throw error }
        }
        return try wakeNFCB()
    }

    /// Sends WUPB.
    ///
    /// - Returns: the card; nil when none answers, or more than one.
    func wakeNFCB() throws(LinkError) -> ListedTarget? {
        let answer: [UInt8]
        do throws(LinkError) {
            answer = try chip.communicate([0x05, 0x00, 0x08], timeout: Self.requestTimeout, cancellation)
        } catch {
            guard error.isAboutTag else { throw error }
            return nil
        }
        guard answer.count == 12 || answer.count == 13, answer[0] == 0x50 else { return nil }
        return ListedTarget(identity: .nfcB(answer: answer), target: .nfcB(pupi: Array(answer[1..<5])))
    }

    /// How long a tag may take to answer a request, including the delay of adapters.
    static let requestTimeout = Airtime.milliseconds(5)

    // MARK: NFC-F

    /// Polls for a system: first in one slot, which works with most chips and cards, then in four, in which two cards
    /// can be distinguished.
    func findNFCF(_ systemCode: UInt16) throws(LinkError) -> [ListedTarget] {
        for timeSlots: UInt8 in [0, 3] {
            let request = [0x00, UInt8(systemCode >> 8), UInt8(systemCode & 0xFF), 0x01, timeSlots]
            let list = try chip.list(.nfcF212, limit: 2, request, cancellation)
            guard list.count > 0 else { continue }
            return try list.nfcF(polled: systemCode)
        }
        return []
    }
}

extension DiscoveredTag.Identity {
    /// Whether two polls for different systems found the same FeliCa card.
    fileprivate func isSameTag(as other: DiscoveredTag.Identity) -> Bool {
        guard case .nfcF(let idm, _, _) = self, case .nfcF(let otherIDm, _, _) = other else { return false }
        return idm.isIDmOfSameCard(as: otherIDm)
    }
}

extension LinkError {
    /// Whether the error is about a tag, and not about the reader or the caller.
    var isAboutTag: Bool { ![.readerUnavailable, .cancelled, .unsupported].contains(code) }
}
