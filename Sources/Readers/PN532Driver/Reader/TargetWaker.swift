// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

/// Makes a tag ready for commands again, after it refused a command, or while another tag was selected.
struct TargetWaker {
    let chip: PN532Chip
    let cancellation: Cancellation
    private var finder: TargetFinder { TargetFinder(chip: chip, cancellation: cancellation) }

    init(chip: PN532Chip, _ cancellation: Cancellation) {
        self.chip = chip
        self.cancellation = cancellation
    }

    /// Wakes a tag.
    ///
    /// It does not restart the field at first, because a card with a random identifier then takes another one.
    ///
    /// - Throws: `LinkError` with `tagRemoved` when the tag does not answer, `readerUnavailable` or `cancelled`.
    func wake(_ target: TagHandle.Target) throws(LinkError) {
        switch target {
        case .nfcA(let uid, let sak):
            if sak & 0x20 != 0, chip.modulation == .nfcA {
                try deselect()
                if try select(uid, sak) { return }
            }
            if try isFound(uid, sak) { return }
            try finder.restartField()
            if try isFound(uid, sak) { return }
        case .type1(let uid):
            for _ in 0..<2 {
                if case .type1(uid)? = try finder.findType1()?.target { return }
            }
        case .nfcB(let pupi):
            if chip.modulation == .nfcB {
                try deselect()
                if case .nfcB(pupi)? = try finder.wakeNFCB()?.target { return }
            }
            if case .nfcB(pupi)? = try finder.findNFCB()?.target { return }
            try finder.restartField()
            if case .nfcB(pupi)? = try finder.findNFCB()?.target { return }
        case .nfcF(let idm, let systemCode):
            for _ in 0..<2 {
                for found in try finder.findNFCF(systemCode) {
                    if case .nfcF(idm, _) = found.target { return }
                }
            }
        }
        throw LinkError(.tagRemoved, "The tag does not answer any more.")
    }

    private func isFound(_ uid: [UInt8], _ sak: UInt8) throws(LinkError) -> Bool {
        try finder.findNFCA(uid: uid).contains { $0.target == .nfcA(uid: uid, sak: sak) }
    }

    /// Ends the host's ISO-DEP with S(DESELECT), if it has started (ISO/IEC 14443-4, 8).
    private func deselect() throws(LinkError) {
        do throws(LinkError) {
            if chip.modulation == .nfcA {
                try chip.setFraming(appendsChecksum: true, removesChecksum: false, cancellation)
            }
            _ = try chip.communicate([0xC2], timeout: TargetFinder.requestTimeout, cancellation)
        } catch {
            guard error.isAboutTag else { throw error }
        }
    }

    /// Wakes a card from HALT with WUPA and selects it by its UID. InListPassiveTarget can't do that.
    private func select(_ uid: [UInt8], _ sak: UInt8) throws(LinkError) -> Bool {
        let timeout = TargetFinder.requestTimeout
        do throws(LinkError) {
            try chip.setFraming(appendsChecksum: false, removesChecksum: false, bitsOfLastByte: 7, cancellation)
            guard try chip.communicate([0x52], timeout: timeout, cancellation).count == 2 else { return false }
            try chip.setFraming(appendsChecksum: true, removesChecksum: false, cancellation)
            var answered: UInt8?
            for (level, part) in Self.levels(of: uid).enumerated() {
                let command = [0x93 + UInt8(level) * 2, 0x70] + part + [part.reduce(0, ^)]
                let answer = try chip.communicate(command, timeout: timeout, cancellation)
                guard answer.count == 3 else { return false }
                answered = answer[0]
            }
            return answered == sak
        } catch {
            guard error.isAboutTag else { throw error }
            return false
        }
    }

    /// The four bytes of each cascade level (ISO/IEC 14443-3, 6.5.4).
    private static func levels(of uid: [UInt8]) -> [[UInt8]] {
        switch uid.count {
        case 7: [[0x88] + uid[0..<3], Array(uid[3...])]
        case 10: [[0x88] + uid[0..<3], [0x88] + uid[3..<6], Array(uid[6...])]
        default: [uid]
        }
    }
}
