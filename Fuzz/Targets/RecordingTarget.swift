// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport LinuxSupport TagLink TextSafety TagTrace
import TagLink

@testable import TagTrace

/// Any text is read as a recording or refused, with the same result for all sizes of pieces. A complete recording stays
/// the same when it is written and read again. Its own calls can replay it to its end.
///
/// Input: the first byte is the length of the pieces minus one.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let length = bytes.first else { return 0 }
    let text = Array(bytes.dropFirst())
    let whole = parse(text, piece: max(1, text.count))
    guard parse(text, piece: Int(length) + 1) == whole else {
        fatalError("The result depends on how the recording is split.")
    }
    guard case .success(let recording) = whole else { return 0 }
    guard recording.trace.entries.count <= recording.steps.count + 1 else { fatalError("More entries than steps.") }
    if !recording.isCutOff {
        let lines = recording.header.line + recording.steps.map { $0.line + $0.outcomeLines }.joined()
        guard parse(Array(lines.utf8), piece: 4096) == whole else {
            fatalError("The recording was written differently: \(lines)")
        }
    }
    var script = ReplayScript(recording)
    for step in recording.steps where !step.action.isEvent { _ = script.follow(step.action, isObserved: true) }
    let isWhole = recording.steps.allSatisfy { $0.outcome != nil }
    guard !isWhole || script.departure == nil else { fatalError("The replay departed from its own recording.") }
    return 0
}

private func parse(_ text: [UInt8], piece: Int) -> Result<Recording, RecordingError> {
    Result { () throws(RecordingError) in
        var parser = RecordingParser()
        for start in stride(from: 0, to: text.count, by: piece) {
            try parser.take(Array(text[start..<min(start + piece, text.count)]))
        }
        return try parser.finish()
    }
}
