// SPDX-License-Identifier: Apache-2.0
import ChipTesting
import Dispatch
import TagLink
import TagProtocols
import VirtualTags

/// The firmware of a PN532 over a virtual field, as far as the driver uses it.
final class ModelChip: @unchecked Sendable {
    // Used by the thread of one scripted chip alone.
    let field = VirtualField(onElapsed: { _ in })
    /// Whether the firmware takes commands to the blocks of Type 1 tags; the real one does not.
    var takesBlockCommands = false
    private var registers: [UInt16: UInt8] = [:]
    private var card: ISODEP?
    private var modulation: UInt8 = 0
    private var unit = Type1Unit()

    init(_ tags: [any VirtualTag]) {
        for tag in tags { field.bring(tag) }
    }

    /// Answers a command; nil for what every chip does.
    func respond(_ code: UInt8, _ data: [UInt8]) -> ScriptedChip.Reply? {
        switch code {
        case 0x06: return .answer(addresses(data, stride: 2).map { read($0) })
        case 0x08:
            for (index, address) in addresses(data, stride: 3).enumerated() { write(address, data[index * 3 + 2]) }
            return .answer([])
        case 0x32:
            if data[0] == 0x01 { waiting { [field] in try? await field.setCarrier(data[1] & 1 != 0) } }
            return .answer([])
        case 0x4A: return .answer(list(Int(data[0]), data[1], Array(data.dropFirst(2))))
        case 0x44:
            let card = card
            waiting { try? await card?.deselect() }
            return .answer([0])
        case 0x40: return exchange(Array(data.dropFirst()))
        case 0x42: return .answer(communicate(data))
        default: return nil
        }
    }

    private func waiting<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
        let result = Locked<Value?>(nil)
        let executor = WaitingExecutor()
        Task(executorPreference: executor) {
            let value = await work()
            result.withLock { $0 = value }
        }
        while true {
            executor.runNext()
            if let value = result.withLock({ $0 }) { return value }
        }
    }

    // MARK: Registers

    private func addresses(_ data: [UInt8], stride step: Int) -> [UInt16] {
        stride(from: 0, to: data.count, by: step).map { UInt16(data[$0]) << 8 | UInt16(data[$0 + 1]) }
    }

    private func read(_ address: UInt16) -> UInt8 {
        switch address {
        case 0x6339: unit.pop()
        case 0x633A: UInt8(unit.received.count)
        default: registers[address] ?? 0
        }
    }

    private func write(_ address: UInt16, _ value: UInt8) {
        registers[address] = value
        switch address {
        case 0x6339: unit.pending.append(value)
        case 0x6331 where value == 0x04: unit.transmit(bits: registers[0x633D] ?? 0)
        case 0x6331 where value == 0x08:
            guard let command = unit.command(), let link = field.link(for: .nfcA) else { return }
            let frame = Frame(command, checksum: .crcB)
            let answer = waiting { try? await link.transceive(frame, timeout: .milliseconds(20)) }
            if let answer { unit.receive(answer.bytes) }
        default: break
        }
    }

    // MARK: Targets

    private func list(_ limit: Int, _ modulation: UInt8, _ wanted: [UInt8]) -> [UInt8] {
        let field = field
        let (answer, card) = waiting { () -> ([UInt8], ISODEP?) in
            switch modulation {
            case 0: (await Self.listA(field, limit, wanted), nil)
            case 1: (await Self.listF(field, wanted), nil)
            case 3: await Self.listB(field)
            default: (await Self.listType1(field), nil)
            }
        }
        self.card = card
        self.modulation = modulation
        let mode: UInt8 = modulation == 1 ? 0x92 : modulation == 3 ? 0x83 : 0x80
        for register: UInt16 in [0x6302, 0x6303] { registers[register] = mode }
        registers[0x633D] = 0
        return answer
    }

    private static func listA(_ field: VirtualField, _ limit: Int, _ wanted: [UInt8]) async -> [UInt8] {
        guard let link = field.link(for: .nfcA) else { return [0] }
        let activation = NFCAActivation(link: link)
        var targets = (try? await activation.activateAll(limit: wanted.isEmpty ? limit : 16)) ?? []
        targets.removeAll { $0.sak == nil }
        if !wanted.isEmpty {
            targets.removeAll { !wanted.elementsEqual($0.uid.count == 7 ? [0x88] + $0.uid : $0.uid) }
            if let target = targets.first { try? await activation.reactivate(target) }
        }
        var answer = [UInt8(targets.count)]
        for (index, target) in targets.enumerated() {
            answer += [UInt8(index + 1), UInt8(target.atqa >> 8), UInt8(target.atqa & 0xFF), target.sak ?? 0]
            answer += [UInt8(target.uid.count)]
            answer += target.uid
        }
        return answer
    }

    private static func listType1(_ field: VirtualField) async -> [UInt8] {
        guard let link = field.link(for: .nfcA),
            let target = try? await NFCAActivation(link: link).activateAll().first, target.isType1,
            let tag = try? await Type1Target.identify(link: link)
        else { return [0] }
        return [1, 1, 0x0C, 0x00] + tag.uid
    }

    private static func listB(_ field: VirtualField) async -> ([UInt8], ISODEP?) {
        guard let link = field.link(for: .nfcB),
            let target = try? await NFCBActivation(link: link).findAll(limit: 1).first
        else { return ([0], nil) }
        // The firmware gives a card that takes one the CID 1.
        let card = ISODEP(link: link, opening: .attribute(target), cid: target.supportsCID ? 1 : nil)
        guard (try? await card.activate()) != nil else { return ([0], nil) }
        let answer: [UInt8] = [1, card.cid ?? 0]
        return ([1, 1, 0x50] + target.identifier + target.applicationData + target.protocolInfo + answer, card)
    }

    private static func listF(_ field: VirtualField, _ request: [UInt8]) async -> [UInt8] {
        guard let link = field.link(for: .nfcF),
            let answer = try? await link.transceive(Frame([6] + request), timeout: .milliseconds(20)).bytes
        else { return [0] }
        var rest = answer[...]
        var found: [[UInt8]] = []
        while let length = rest.first, found.count < 2 {
            found.append([UInt8(found.count + 1)] + rest.prefix(Int(length)))
            rest = rest.dropFirst(Int(length))
        }
        return [UInt8(found.count)] + found.joined()
    }

    private func exchange(_ data: [UInt8]) -> ScriptedChip.Reply {
        if [0x02, 0x10, 0x1B, 0x54].contains(data[0]), !takesBlockCommands { return .syntaxError }
        guard let link = field.link(for: .nfcA) else { return .answer([0x27]) }
        let answer = waiting { try? await link.transceive(Frame(data, checksum: .crcB), timeout: .milliseconds(20)) }
        return .answer(answer.map { [0] + $0.bytes } ?? [0x01])
    }

    private func communicate(_ data: [UInt8]) -> [UInt8] {
        let technology: Technology = modulation == 1 ? .nfcF : modulation == 3 ? .nfcB : .nfcA
        guard let link = field.link(for: technology) else { return [0x27] }
        let bits = Int(registers[0x633D] ?? 0)
        let appends = (registers[0x6302] ?? 0) & 0x80 != 0
        let checks = (registers[0x6303] ?? 0) & 0x80 != 0
        let frame =
            bits == 0
            ? Frame(data, checksum: appends ? .automatic : .none) : Frame(bits: data, validBitsInLastByte: bits)
        let result = waiting { () -> Result<Frame, LinkError> in
            do throws(LinkError) {
                return .success(try await link.transceive(frame, timeout: .milliseconds(400)))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .failure(let error): return [error.code == .timeout ? 0x01 : error.code == .collision ? 0x06 : 0x02]
        case .success(let answer):
            // The chip takes four bits for a byte without checksum.
            if answer.validBitsInLastByte != 8 { return checks ? [0x02] : [0] + answer.bytes }
            guard !checks, answer.checksum == .automatic else { return [0] + answer.bytes }
            let crc = CyclicRedundancyCheck.a(answer.bytes)
            return [0] + answer.bytes + [UInt8(crc & 0xFF), UInt8(crc >> 8)]
        }
    }
}

/// The contactless unit when its host sends a Type 1 tag's bytes one by one.
private struct Type1Unit {
    var pending: [UInt8] = []
    var received: [UInt8] = []
    private var sent: [(byte: UInt8, bits: UInt8)] = []

    mutating func transmit(bits: UInt8) {
        guard let byte = pending.popLast() else { return }
        sent.append((byte, bits))
    }

    /// The command that was sent: its first byte with 7 bits, the others whole, and its checksum right.
    mutating func command() -> [UInt8]? {
        defer { sent = [] }
        let bytes = sent.map(\.byte)
        guard bytes.count > 2, sent[0].bits == 7, sent.dropFirst().allSatisfy({ $0.bits == 0 }) else { return nil }
        let command = Array(bytes.dropLast(2))
        let crc = CyclicRedundancyCheck.b(command)
        return bytes.suffix(2) == [UInt8(crc & 0xFF), UInt8(crc >> 8)] ? command : nil
    }

    /// Puts an answer into the buffer, a parity bit after each byte.
    mutating func receive(_ answer: [UInt8]) {
        let crc = CyclicRedundancyCheck.b(answer)
        var bits: [UInt8] = []
        for byte in answer + [UInt8(crc & 0xFF), UInt8(crc >> 8)] {
            let data = (0..<8).map { byte >> UInt8($0) & 1 }
            bits += data + [1 ^ data.reduce(0, ^)]
        }
        received = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | $1.element << UInt8($1.offset) }
        }
        if received.count > 64 { received = Array(received.prefix(64)) }
    }

    mutating func pop() -> UInt8 { received.isEmpty ? 0 : received.removeFirst() }
}

/// Runs a task on the thread that waits for it, so that a chip answers in time even if the process is busy.
private final class WaitingExecutor: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }

    /// Waits for the next piece of the task, and runs it.
    func runNext() {
        arrivals.wait()
        guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
