// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport CardCryptography NDEF TagLink TagProducts TagProtocols
// support: HostileTag
import TagLink
import TagProtocols

/// Activation ends for any answers to REQA, anticollision and SELECT.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe runToEnd(start, count) { choice, answers in
        let link = HostileLink(.nfcA, answers)
        let activation = NFCAActivation(link: link)
        // A tag takes REQA, repeated 6 times; 3 levels with 33 rounds of anticollision, started 3 times, and SELECT; HLTA.
        // 16 tags and 3 failures; then each of the 16 may be woken 3 times with WUPA and 3 SELECTs.
        let limit = 19 * (6 + 3 * (3 * 33 + 1) + 1) + 16 * 3 * 4
        let found = await bounded("activateAll", answers, atMost: limit) { () throws(TagError) in
            try await activation.activateAll(waking: choice & 1 != 0)
        }
        guard let found else { return }
        guard found.count <= 16 else { fatalError("More tags than the limit.") }
        for target in found.prefix(3) {
            guard [0, 4, 7, 10].contains(target.uid.count) else { fatalError("A UID of \(target.uid.count) bytes.") }
            await bounded("halt", answers, atMost: 1) { () throws(TagError) in try await activation.halt() }
            await bounded("reactivate", answers, atMost: 12) { () throws(TagError) in
                try await activation.reactivate(target)
            }
        }
    }
}
