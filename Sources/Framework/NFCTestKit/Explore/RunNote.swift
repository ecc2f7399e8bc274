// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink
import TagTrace

/// What the process writes when it ends in the middle of a run: the line that replays the run, and the run's events.
///
/// The text is prepared in memory that is never freed, so that a signal handler only has to write it.
///
/// Sendable because the field's lock guards all changes. A signal handler reads it when nothing else runs.
@safe final class RunNote: @unchecked Sendable {
    private enum Entry: UInt8 {
        case note, request, answer, silence
    }

    private static let capacity = 1 << 16
    private static let headCapacity = 512
    /// The number of last entries that are written.
    private static let shownCount = 60
    private static let unused = Locked<[RunNote]>([])

    private let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    private var count = 0
    /// The number of exchanges whose entries were removed.
    private var removedExchanges = 0
    private let head = UnsafeMutablePointer<UInt8>.allocate(capacity: headCapacity)
    private var headCount = 0
    /// The address of the field's place; 0 while no run is active.
    private(set) var place: UInt = 0

    private init() {}

    /// Takes a note for an exploration, which has to give it back. The note keeps its memory.
    static func take() -> RunNote {
        CrashWatch.begin()
        if let note = unused.withLock({ $0.popLast() }) { return note }
        let note = RunNote()
        CrashWatch.add(note)
        return note
    }

    func giveBack() {
        end()
        Self.unused.withLock { $0.append(self) }
    }

    // MARK: A run

    /// Begins a run.
    ///
    /// - Parameters:
    ///   - script: the line that replays the run; nil for the run without faults.
    ///   - place: the place of the run's field.
    func begin(_ script: FaultScript?, in place: TestTracker) {
        let line = script.map { "NFC_REPLAY=\($0)" } ?? "no fault, in the first run"
        count = 0
        removedExchanges = 0
        headCount = 0
        // A line that is cut ends with a line feed too.
        let text = "an exploration was in this run: \(line)".utf8.prefix(Self.headCapacity - 1)
        for byte in Array(text) + [UInt8(ascii: "\n")] {
            unsafe head[headCount] = byte
            headCount += 1
        }
        self.place = Self.number(of: place)
    }

    func end() { place = 0 }

    static func number(of place: AnyObject) -> UInt {
        UInt(bitPattern: unsafe Unmanaged.passUnretained(place).toOpaque())
    }

    func add(_ event: Trace.Event) {
        guard place != 0 else { return }
        switch event {
        case .exchange(let exchange):
            add(.request, exchange.request.bytes)
            if let answer = try? exchange.answer?.get() { add(.answer, answer.bytes) } else { add(.silence, []) }
        case .note(let text): add(.note, Array(text.utf8))
        default: break
        }
    }

    /// Adds an entry: its kind, its length in two bytes, and its bytes.
    private func add(_ entry: Entry, _ content: [UInt8]) {
        let length = min(content.count, 1024)
        if count + 3 + length > Self.capacity { dropHalf() }
        unsafe bytes[count] = entry.rawValue
        unsafe bytes[count + 1] = UInt8(length & 0xFF)
        unsafe bytes[count + 2] = UInt8(length >> 8)
        for index in 0..<length { unsafe bytes[count + 3 + index] = content[index] }
        count += 3 + length
    }

    private func length(at offset: Int) -> Int { unsafe Int(bytes[offset + 1]) | Int(bytes[offset + 2]) << 8 }

    private func dropHalf() {
        var start = 0
        while start < count / 2 {
            if unsafe bytes[start] == Entry.request.rawValue { removedExchanges += 1 }
            start += 3 + length(at: start)
        }
        unsafe memmove(bytes, bytes + start, count - start)
        count -= start
    }

    // MARK: In a signal handler

    /// Writes the note to standard error. Safe in a signal handler: it allocates no memory and takes no lock.
    func write() {
        Self.write("NFCTestKit: the process ends while ")
        unsafe Self.write(head, headCount)
        var entries = 0
        var offset = 0
        while offset < count {
            entries += 1
            offset += 3 + length(at: offset)
        }
        offset = 0
        var exchange = removedExchanges
        while offset < count {
            let length = length(at: offset)
            let kind = unsafe bytes[offset]
            if kind == Entry.request.rawValue { exchange += 1 }
            entries -= 1
            if entries < Self.shownCount { unsafe write(kind, exchange, bytes + offset + 3, length) }
            offset += 3 + length
        }
    }

    private func write(_ kind: UInt8, _ exchange: Int, _ content: UnsafeMutablePointer<UInt8>, _ length: Int) {
        switch kind {
        case Entry.note.rawValue:
            Self.write("       ")
            unsafe Self.write(content, length)
        case Entry.request.rawValue:
            Self.write(number: exchange)
            Self.write(" >")
            unsafe Self.writeHex(content, length)
        case Entry.answer.rawValue:
            Self.write("     <")
            unsafe Self.writeHex(content, length)
        default: Self.write("     < no answer")
        }
        Self.write("\n")
    }

    private static func write(_ text: StaticString) { unsafe write(text.utf8Start, text.utf8CodeUnitCount) }

    private static func write(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        var offset = 0
        while offset < count {
            let written = unsafe Glibc.write(STDERR_FILENO, bytes + offset, count - offset)
            if written <= 0 { return }
            offset += written
        }
    }

    private static func write(number: Int) {
        var text: (UInt8, UInt8, UInt8, UInt8) = (0x20, 0x20, 0x20, 0x20)
        unsafe withUnsafeMutableBytes(of: &text) { text in
            var rest = number
            var place = 3
            repeat {
                unsafe text[place] = 0x30 + UInt8(rest % 10)
                rest /= 10
                place -= 1
            } while rest > 0 && place >= 0
            if let start = text.baseAddress { unsafe write(start.assumingMemoryBound(to: UInt8.self), 4) }
        }
    }

    private static func writeHex(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) {
        for index in 0..<count {
            let byte = unsafe bytes[index]
            var text: (UInt8, UInt8, UInt8) = (0x20, digit(byte >> 4), digit(byte & 0x0F))
            unsafe withUnsafeBytes(of: &text) { text in
                if let start = text.baseAddress { unsafe write(start.assumingMemoryBound(to: UInt8.self), 3) }
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}
