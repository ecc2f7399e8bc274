// SPDX-License-Identifier: Apache-2.0
// modules: NDEF TagLink TagProtocols
import Dispatch
import TagLink
import TagProtocols

/// Whatever a tag answers, every procedure of every protocol ends, within a bound on exchanges.
///
/// The first octet chooses the protocol. Then come the answers: an octet of length and so many octets, or a failure.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        await run(Int(first) % 8, Answers(bytes.dropFirst()))
        done.signal()
    }
    done.wait()
    return 0
}

private func run(_ choice: Int, _ answers: Answers) async {
    let technologies: [Technology] = [.nfcA, .nfcA, .nfcA, .nfcB, .nfcF, .nfcF, .nfcV, .nfcA]
    let link = FuzzLink(technologies[choice], answers, hasHeader: choice == 5)
    switch choice {
    case 0: await exercise(Type1Tag(link: link))
    case 1:
        let card = ISODEP(link: link)
        await exercise(Type4Tag(link: card))
        try? await card.deselect()
    case 2: await exercise(Type4Tag(link: FuzzCard(answers)))
    case 3:
        for target in (try? await NFCBActivation(link: link).findAll()) ?? [] {
            if let tag = makeForumTag(for: target, link: link) { await exercise(tag) }
        }
    case 4, 5:
        let idm = [UInt8](repeating: 2, count: 8)
        var target = NFCFTarget(idm: idm, pmm: idm, systemCode: NFCFTarget.ndefSystemCode)
        if choice == 4, let found = try? await NFCFPolling(link: link).poll(timeSlots: 3).first {
            target = found.target
        }
        await exercise(makeForumTag(for: target, link: link))
    case 6:
        let found = (try? await NFCVInventory(link: link).findAll()) ?? []
        let target = found.first ?? NFCVTarget(uid: [0xE0, 2, 3, 4, 5, 6, 7, 8])
        await exercise(makeForumTag(for: target, link: link, isAlone: found.count == 1))
    default:
        for target in (try? await NFCAActivation(link: link).activateAll()) ?? [] {
            if let tag = makeForumTag(for: target, link: link) { await exercise(tag) }
        }
    }
    guard link.statistics.exchanges < 20000 else { fatalError("The procedures go on and on.") }
}

private func exercise(_ tag: any ForumTag) async {
    let detection = try? await tag.detectNDEF()
    if let message = try? await tag.readNDEF(), let detection, message.count != detection.messageLength {
        fatalError("A message of another length than detected.")
    }
    try? await tag.writeNDEF([UInt8](repeating: 0xD0, count: 300))
    try? await tag.writeNDEF([0xD0, 0, 0])
    try? await tag.lock()
    tag.wasActivated()
    _ = try? await tag.readNDEF()
    _ = await tag.isPresent()
}

/// The answers, one after the other; silence when they are over.
private final class Answers: @unchecked Sendable {
    // Safe: used by one task alone.
    private var rest: ArraySlice<UInt8>
    var exchanges = 0

    init(_ rest: ArraySlice<UInt8>) {
        self.rest = rest
    }

    func next() throws(LinkError) -> [UInt8] {
        exchanges += 1
        guard let kind = rest.popFirst() else { throw LinkError(.timeout, "over") }
        switch kind {
        case 0xFF: throw LinkError(.timeout, "fuzz")
        case 0xFE: throw LinkError(.transmission, "fuzz")
        case 0xFD:
            throw LinkError(.collision, "fuzz", collision: .init(bitIndex: Int(rest.popFirst() ?? 0), bits: [1, 2, 3]))
        case 0xFC: return [UInt8](repeating: rest.popFirst() ?? 0, count: Int(rest.popFirst() ?? 0))
        default:
            defer { rest = rest.dropFirst(Int(kind)) }
            return Array(rest.prefix(Int(kind)))
        }
    }
}

private final class FuzzLink: FrameLink {
    let technology: Technology
    let maximumFrameLength = 256
    let answers: Answers
    /// Whether FeliCa answers get their length, code and IDm put in front.
    let hasHeader: Bool

    init(_ technology: Technology, _ answers: Answers, hasHeader: Bool) {
        self.technology = technology
        self.answers = answers
        self.hasHeader = hasHeader
    }

    var statistics: LinkStatistics { LinkStatistics(exchanges: answers.exchanges) }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        let octets = try answers.next()
        if octets.count == 1, frame.checksum == .automatic, technology == .nfcA, octets[0] & 0xF0 == 0xA0 {
            return Frame(bits: [octets[0] & 0x0F], validBitsInLastByte: 4)
        }
        guard hasHeader, frame.bytes.count > 1, octets.count <= 245 else {
            return Frame(octets, checksum: frame.checksum)
        }
        let header = [UInt8(octets.count + 10), frame.bytes[1] + 1] + [UInt8](repeating: 2, count: 8)
        return Frame(header + octets)
    }
}

private final class FuzzCard: APDULink {
    let answers: Answers

    init(_ answers: Answers) {
        self.answers = answers
    }

    var maximumCommandLength: Int { 65544 }
    var maximumResponseLength: Int { 65538 }
    var statistics: LinkStatistics { LinkStatistics(exchanges: answers.exchanges) }

    func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
        try answers.next() + [0x90, 0x00]
    }

    func isPresent() async -> Bool { true }
}
