// SPDX-License-Identifier: Apache-2.0

extension TagContents {
    /// The same contents, with the pages as delivered that an image leaves out.
    var completed: TagContents {
        guard case .type2(let contents) = self else { return self }
        return .type2(Type2Silicon(contents).contents)
    }

    /// What is different from other contents, in words.
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
            compare("which octets are unknown", mine.unknownOctets != others.unknownOctets)
            compare("the signature", mine.signature != others.signature)
        default:
            break
        }
        return words
    }
}
