// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport CardCryptography NDEF TagLink TagProducts TagProtocols
// support: HostileTag
import TagLink
import TagProtocols

/// Activation ends for any answers to REQB, in its slots, to HLTB and to ATTRIB.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe runToEnd(start, count) { choice, answers in
        let link = HostileLink(.nfcB, answers)
        let activation = NFCBActivation(link: link)
        // Rounds of 1, 2, 4, 8 slots, and three of 16.
        let found = await bounded("findAll", answers, atMost: 15 + 3 * 16) { () throws(TagError) in
            try await activation.findAll(waking: choice & 1 != 0)
        }
        for target in (found ?? []).prefix(3) {
            if choice & 2 != 0 {
                await bounded("halt", answers, atMost: 1) { () throws(TagError) in try await activation.halt(target) }
            }
            guard let tag = makeForumTag(for: target, link: link) else { continue }
            // ATTRIB, repeated once.
            await bounded("prepare", answers, atMost: 2) { () throws(TagError) in try await tag.prepare() }
            await bounded("isPresent", answers, atMost: 3) { () throws(TagError) in await tag.isPresent() }
        }
    }
}
