// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport CardCryptography NDEF TagLink TagProducts TagProtocols
// support: HostileTag
import TagLink
import TagProtocols

/// Every procedure ends for any answers of a FeliCa card to polling and commands.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe runToEnd(start, count) { choice, answers in
        let idm = [UInt8](repeating: 2, count: 8)
        let isBare = choice & 1 != 0
        let sumsUp = choice & 2 != 0
        // Unless the input asks for bare answers, they begin with length, code and IDm, and an attribute block has its checksum.
        let link = HostileLink(.nfcF, answers) { request, bytes in
            guard !isBare, request.bytes.count > 1, bytes.count <= 244 else { return nil }
            var bytes = bytes
            if request.bytes[1] == 0 {
                let answer = Array((bytes + [UInt8](repeating: 1, count: 8)).prefix(8))
                return Frame([18, 1] + idm + answer)
            }
            if sumsUp, request.bytes[1] == 0x06, request.bytes.last == 0, bytes.count == 19 {
                let sum = bytes[3..<17].reduce(0) { $0 + Int($1) }
                bytes[17] = UInt8(sum >> 8 & 0xFF)
                bytes[18] = UInt8(sum & 0xFF)
            }
            return Frame([UInt8(bytes.count + 10), request.bytes[1] + 1] + idm + bytes)
        }
        var target = NFCFTarget(idm: idm, pmm: idm, systemCode: NFCFTarget.ndefSystemCode)
        let polling = NFCFPolling(link: link)
        if choice & 4 != 0 {
            let found = await bounded("poll", answers, atMost: 3) { () throws(TagError) in
                try await polling.poll(timeSlots: 3)
            }
            if let first = found?.first { target = first.target }
        }
        let card = FeliCaCard(link: link, target: target)
        if choice & 8 != 0 {
            await bounded("send", answers, atMost: 3) { () throws(TagError) in
                try await card.send(0x0C, timeout: .milliseconds(20))
            }
        }
        // Nmaxb has 16 bits: up to 65,535 CHECKs of a block, each tried 3 times; polling with 1, 4 and 16 slots; the attribute block.
        let limit = 3 * (65535 + 1) + 3 * 3
        await exercise(Type3Tag(target: target, link: link), answers, atMost: limit)
        let tag = Type3Tag(target: target, link: link)
        await bounded("format", answers, atMost: 3 * 3) { () throws(TagError) in try await tag.format() }
    }
}
