// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCSessions
import TagLink
import VirtualTags

extension Type1Contents {
    /// The facts about a Type 1 tag.
    var facts: [TagFact] {
        let isStatic = product == .topaz96
        let locks: [UInt8] = Array(memory[112..<114]) + (isStatic ? [] : Array(memory[122..<128]))
        // Bit n of the first two bytes is block n; from the factory 0, D and E are set (Topaz 512 data sheet, 4).
        // The last bit means nothing on a Topaz 96, which has 15 blocks.
        let locked = (0..<min(16, memory.count / 8)).filter(locks.hasBit)
        let isFree = locked == [0, 13, 14] && locks.dropFirst(2).allSatisfy { $0 == 0 }
        var regions: [(ClosedRange<Int>, String)] = [
            (0...0, "UID"), (1...12, "capability container and data"), (13...13, "reserved"),
            (14...14, "locks and one-time bytes"),
        ]
        if !isStatic { regions += [(15...15, "reserved and locks"), (16...63, "data")] }
        return [
            TagFact("Header", "header_hex", hex: header),
            TagFact("Memory", "\(memory.count) bytes in blocks of 8", "memory_size", .number(memory.count)),
            .map("block", regions),
            TagFact(
                "Locks",
                isFree
                    ? "none on data (\(HexText.text(locks)))"
                    : "blocks \(TagFact.ranges(locked)) (\(HexText.text(locks)))",
                "lock_hex",
                .bytes(locks)
            ),
            TagFact("CC", "cc_hex", hex: memory[8..<12]),
        ]
    }
}

extension Type2Contents {
    /// The facts about a Type 2 tag.
    ///
    /// - Parameter unknown: what the tag did not report. There are no facts about it.
    func facts(without unknown: Set<TagInspection.Unknown> = []) -> [TagFact] {
        let bytes = product.userPages.count * 4
        let hasSignature = signature.contains { $0 != 0 }
        var facts: [TagFact] = unknown.contains(.answers) ? [] : .answers(atqa, sak)
        facts.append(version.map { TagFact("Version", "version_hex", hex: $0) } ?? TagFact("Version", "no GET_VERSION"))
        if !unknown.contains(.signature) {
            facts.append(
                hasSignature ? TagFact("Signature", "signature_hex", hex: signature) : TagFact("Signature", "none")
            )
        }
        facts += [
            TagFact(
                "Memory",
                "\(product.pageCount) pages, \(bytes) bytes for data",
                "pages",
                .number(product.pageCount)
            ),
            TagFact("memory_size", .number(product.pageCount * 4)), TagFact("user_size", .number(bytes)),
            .map("page", regions),
        ]
        let hasMemory = !unknown.contains(.memory)
        facts +=
            hasMemory
            ? lockFacts(without: unknown) : [TagFact("Locks", "not known: a part of the memory can't be read")]
        if !unknown.contains(.counters) { facts += counterFacts }
        guard hasMemory else { return facts }
        return facts + [TagFact("CC", "cc_hex", hex: memory.dropFirst(12).prefix(4))]
    }

    private var regions: [(ClosedRange<Int>, String)] {
        var regions: [(ClosedRange<Int>, String)] = [
            (0...1, "UID"), (2...2, "UID and static locks"), (3...3, "capability container"),
            (product.userPages, "data"),
        ]
        if let page = product.dynamicLockPage { regions.append((page...page, "dynamic locks")) }
        if let page = product.firstConfigurationPage {
            regions.append((page...(product.pageCount - 1), "configuration and \(page == 42 ? "key" : "password")"))
        }
        return regions
    }

    private func lockFacts(without unknown: Set<TagInspection.Unknown>) -> [TagFact] {
        let staticLock = Array(memory.dropFirst(10).prefix(2))
        // Products with more than 20 pages have three lock bytes right after the data.
        let dynamicLock = product.dynamicLockPage.map { Array(memory.dropFirst($0 * 4).prefix(3)) }
        let dynamicText = dynamicLock.map { $0.isEmpty ? ", dynamic not known" : ", dynamic \(HexText.text($0))" }
        let bytes = "static \(HexText.text(staticLock))" + (dynamicText ?? "")
        let locked = lockedPages
        let text = "\(TagFact.readOnly(locked, "page")) (\(bytes))"
        var facts = [
            TagFact("Locks", text, "static_lock_hex", .bytes(staticLock)),
            TagFact("locked_pages", .numbers(locked)),
        ]
        if let dynamicLock, !dynamicLock.isEmpty { facts.append(TagFact("dynamic_lock_hex", .bytes(dynamicLock))) }
        if let page = firstProtectedPage {
            let failures =
                unknown.contains(.failedAuthentications) ? "" : "; \(failedAuthentications) failed in a row"
            let text = "pages from \(page) on need a password" + failures
            facts.append(TagFact("Password", text, "protected_from_page", .number(page)))
        }
        return facts
    }

    private var counterFacts: [TagFact] {
        let numbers = countersOfProduct
        guard !numbers.isEmpty else { return [] }
        let texts = numbers.map { number in
            let isWhole = numbers.count == 1 || tearingFlags[number] == 0xBD
            return "\(number) at \(counters[number])" + (isWhole ? "" : " (torn)")
        }
        let values = numbers.map { Int(counters[$0]) }
        return [TagFact("Counters", texts.joined(separator: ", "), "counters", .numbers(values))]
    }
}
