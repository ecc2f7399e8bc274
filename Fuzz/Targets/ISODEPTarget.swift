// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport CardCryptography NDEF TagLink TagProducts TagProtocols
// support: HostileTag
import TagLink
import TagProtocols

/// ISO-DEP ends for any answers to RATS and blocks: chains, S(WTX) and repetitions are bounded.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe runToEnd(start, count) { choice, answers in
        // Some inputs get a valid ATS, so that they reach the blocks.
        let isBare = choice & 1 != 0
        let link = HostileLink(.nfcA, answers) { request, bytes in
            !isBare && request.bytes.first == 0xE0 ? Frame([0x05, 0x78, 0x80, 0x70, 0x02]) : nil
        }
        let card = ISODEP(link: link, cid: choice & 2 != 0 ? 3 : nil)
        // Command blocks with at least 12 bytes each; response blocks with at least one byte each; 128 S(WTX). Each is
        // repeated up to twice.
        func limit(_ command: Int, _ response: Int) -> Int { 2 + 3 * (command / 12 + 1 + response + 128) }
        let commands: [([UInt8], Int)] = [
            ([0x00, 0xA4, 0x04, 0x00], limit(4, 4096)),
            ([0x00, 0xD6, 0x00, 0x00, 0xFF] + [UInt8](repeating: 7, count: 255), limit(260, 4096)),
            ([0x00, 0xB0, 0x00, 0x00, 0x00, 0x00, 0x00], limit(7, 65538)),
        ]
        for (command, limit) in commands {
            await bounded("transmit", answers, atMost: limit) { () throws(TagError) in
                try await whole { () throws(LinkError) in _ = try await card.transmit(command) }
            }
            await bounded("isPresent", answers, atMost: 3) { () throws(TagError) in await card.isPresent() }
            if choice & 8 != 0 { card.wasActivated() }
        }
        await bounded("deselect", answers, atMost: 3) { () throws(TagError) in
            try await whole { () throws(LinkError) in try await card.deselect() }
        }
    }
}

/// Converts a link's error to a tag's error, so that its text is checked.
private func whole(_ body: () async throws(LinkError) -> Void) async throws(TagError) {
    do throws(LinkError) {
        try await body()
    } catch {
        throw TagError(error.code == .protocolViolation ? .badAnswer : .tagLost, error.reason, link: error)
    }
}
