// SPDX-License-Identifier: Apache-2.0
import VirtualTags

extension TagContents {
    /// Returns the same contents with everything that the format can't store replaced: missing pages are like those of
    /// a new tag, and the remains of older messages are removed if the format has no place for them.
    func completed(for format: TagImage.Format) -> TagContents {
        switch self {
        case .type2(let contents): return .type2(contents.completed)
        case .type4(var contents):
            guard format == .flipper, case .ndef(let files) = contents.kind else { return self }
            contents.kind = .ndef(files: FlipperTagDump.withoutRemains(files))
            return .type4(contents)
        default: return self
        }
    }

    /// Describes the differences from other contents.
    func differences(from other: TagContents) -> [String] {
        var words: [String] = []
        func compare(_ name: String, _ differs: Bool) {
            if differs { words.append(name) }
        }
        compare("the product", product != other.product)
        compare("the UID", uid != other.uid)
        switch (self, other) {
        case (.type2(let mine), .type2(let others)):
            compare("ATQA and SAK", mine.atqa != others.atqa || mine.sak != others.sak)
            compare("the memory", mine.memory != others.memory)
            compare("the version", mine.version != others.version)
            compare("the signature", mine.signature != others.signature)
            compare("the counters", mine.counters != others.counters || mine.tearingFlags != others.tearingFlags)
            compare("the failed passwords", mine.failedAuthentications != others.failedAuthentications)
        case (.type5(let mine), .type5(let others)):
            compare("the memory", mine.memory != others.memory)
            compare("the locked blocks", mine.lockedBlocks != others.lockedBlocks)
            compare("AFI and DSFID", mine.afi != others.afi || mine.dsfid != others.dsfid)
            let locks = mine.isAFILocked != others.isAFILocked || mine.isDSFIDLocked != others.isDSFIDLocked
            compare("the locks of AFI and DSFID", locks)
            let surveillance = mine.isSurveillanceSet != others.isSurveillanceSet
            compare("the surveillance bit", surveillance || mine.isSurveillanceLocked != others.isSurveillanceLocked)
            compare("the passwords", mine.passwords != others.passwords)
            compare("the signature", mine.signature != others.signature)
            compare("the counter", mine.counter != others.counter)
            compare("what guards its pages", mine.protection != others.protection)
            compare("the settings", mine.settings != others.settings)
        case (.classic(let mine), .classic(let others)):
            compare("ATQA and SAK", mine.atqa != others.atqa || mine.sak != others.sak)
            compare("the memory", mine.memory != others.memory)
            compare("which bytes are unknown", mine.unknownBytes != others.unknownBytes)
            compare("the signature", mine.signature != others.signature)
        case (.type4(let mine), .type4(let others)):
            guard case .desfire(let mine) = mine.kind, case .desfire(let others) = others.kind else { break }
            compare("what SET CONFIGURATION has changed", mine.configuration != others.configuration)
        default:
            break
        }
        return words
    }
}
