// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols

/// Runs an asynchronous body to its end.
///
/// - Parameters:
///   - start: the input.
///   - count: its length.
///   - patience: after how many exchanges a tag that repeats its answers falls silent, in most inputs.
///   - body: receives the first byte, which chooses a procedure, and the answers made from the other bytes.
func runToEnd(
    _ start: UnsafePointer<UInt8>?,
    _ count: Int,
    patience: Int = 500,
    _ body: @escaping @Sendable (UInt8, Answers) async -> Void
) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let executor = CallersExecutor()
    Task(executorPreference: executor) {
        // The highest bit makes the tag repeat its answers. For one of 64 input lengths it repeats them without end, otherwise
        // for a limited number: with thousands of blocks, nearly all the time would go into exchanges of the same kind.
        let patience = bytes.count % 64 == 63 ? Int.max : patience
        await body(first & 0x7F, Answers(bytes.dropFirst(), isEndless: first & 0x80 != 0, patience: patience))
    }
    executor.run()
    return 0
}

/// Runs tasks on the caller's thread. The procedures wait only for each other, so no other thread is needed.
final class CallersExecutor: TaskExecutor, @unchecked Sendable {
    // Safe: used by one thread.
    private var jobs: [UnownedJob] = []

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.append(UnownedJob(job))
    }

    /// Runs jobs until none is left.
    func run() {
        while !jobs.isEmpty {
            unsafe jobs.removeFirst().runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// The answers, one after the other. Each is a length byte and that many bytes, or a failure. After the last one the tag is
/// silent or repeats the answers.
final class Answers: @unchecked Sendable {
    // Safe: used by one task at a time.
    private let all: ArraySlice<UInt8>
    private var rest: ArraySlice<UInt8>
    private let isEndless: Bool
    /// The number of exchanges after which the tag is silent anyway.
    private let patience: Int
    private(set) var exchanges = 0

    init(_ all: ArraySlice<UInt8>, isEndless: Bool, patience: Int = .max) {
        self.patience = patience
        self.all = all
        self.rest = all
        self.isEndless = isEndless
    }

    func next() throws(LinkError) -> [UInt8] {
        exchanges += 1
        if rest.isEmpty, isEndless, exchanges <= patience { rest = all }
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

/// A link to a tag that gives these answers.
final class HostileLink: FrameLink {
    let technology: Technology
    let maximumFrameLength = 256
    let answers: Answers
    /// Changes an answer to fit a request; returns nil to leave it unchanged.
    private let dress: (@Sendable (Frame, [UInt8]) -> Frame?)?

    init(
        _ technology: Technology,
        _ answers: Answers,
        dress: (@Sendable (Frame, [UInt8]) -> Frame?)? = nil
    ) {
        self.technology = technology
        self.answers = answers
        self.dress = dress
    }

    var statistics: LinkStatistics { LinkStatistics(exchanges: answers.exchanges) }

    func transceive(_ frame: Frame, timeout: Airtime) async throws(LinkError) -> Frame {
        // No time-out may be longer than the longest frame waiting time.
        guard timeout <= .milliseconds(6000) else { fatalError("A time-out of \(timeout.microseconds) us.") }
        let bytes = try answers.next()
        if let dressed = dress?(frame, bytes) { return dressed }
        if bytes.count == 1, frame.checksum == .automatic, technology == .nfcA, bytes[0] & 0xF0 == 0xA0 {
            return Frame(bits: [bytes[0] & 0x0F], validBitsInLastByte: 4)
        }
        return Frame(bytes, checksum: frame.checksum)
    }
}

/// Runs a procedure, and checks that it ends within a number of exchanges and gives a reason when it fails.
///
/// - Parameters:
///   - name: the procedure's name.
///   - answers: the tag's answers.
///   - limit: the maximum number of exchanges.
///   - body: the procedure.
@discardableResult
func bounded<Value>(
    _ name: String,
    _ answers: Answers,
    atMost limit: Int,
    _ body: () async throws(TagError) -> Value
) async -> Value? {
    let before = answers.exchanges
    var result: Value?
    do throws(TagError) {
        result = try await body()
    } catch {
        // The reason must name the rule that the tag broke.
        let namesRule = error.reason.hasSuffix(").") && error.reason.contains("(")
        guard error.code != .badAnswer || namesRule else { fatalError("\(name) names no rule: \(error)") }
    }
    let made = answers.exchanges - before
    guard made <= limit else { fatalError("\(name) made \(made) exchanges, of \(limit) at most.") }
    return result
}

/// What an input does with a tag after it was found and read.
///
/// Each input does only one part. With all parts in each, most of the time would go into exchanges of the same kind.
enum ExercisePart: UInt8, CaseIterable {
    case format, longMessage, shortMessage, lock

    /// Creates the part that two bits choose.
    init(_ bits: UInt8) { self = Self.allCases[Int(bits & 3)] }
}

/// Runs procedures on a tag: finds and reads it, then does one part of the others, or all.
///
/// - Parameters:
///   - part: the part; nil for all but the format.
///   - limit: the maximum number of exchanges of one procedure.
func exercise(_ tag: any ForumTag, _ answers: Answers, part: ExercisePart? = nil, atMost limit: Int) async {
    let detection = await bounded("detectNDEF", answers, atMost: limit) { () throws(TagError) in
        try await tag.detectNDEF()
    }
    let message = await bounded("readNDEF", answers, atMost: limit) { () throws(TagError) in try await tag.readNDEF() }
    if let message, let detection, message.count != detection.messageLength {
        fatalError("A message of another length than detected.")
    }
    for (length, writer) in [(300, ExercisePart.longMessage), (3, .shortMessage)] where part == nil || part == writer {
        await bounded("writeNDEF", answers, atMost: limit) { () throws(TagError) in
            try await tag.writeNDEF([UInt8](repeating: 0xD0, count: length))
        }
    }
    if part == nil || part == .lock {
        await bounded("lock", answers, atMost: limit) { () throws(TagError) in try await tag.lock() }
        tag.wasActivated()
        await bounded("readNDEF", answers, atMost: limit) { () throws(TagError) in try await tag.readNDEF() }
    }
    await bounded("isPresent", answers, atMost: limit) { () throws(TagError) in await tag.isPresent() }
}
