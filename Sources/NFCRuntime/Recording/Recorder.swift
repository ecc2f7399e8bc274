// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink

/// Keeps what goes on at a reader in a file, line by line as it happens: whatever ends the process, no more is lost than
/// what was not there yet.
///
/// A call is written before it is made, and its outcome when it is there. Looks that find nothing, one after the other,
/// are written once.
public final class Recorder: Sendable {
    private struct State {
        var descriptor: Int32
        var exchanges = 0
        var tags = 0
        /// The look that found nothing, when that was the last call.
        var emptyLook: Recording.Action?
        /// The last arrival of each tag that was near.
        var arrivals: [[UInt8]: UInt64] = [:]
        var failure: RecordingError?
    }

    /// The file.
    public let path: String
    private let state: Locked<State>
    private let origin = ContinuousClock.now

    /// Creates the file, readable for its owner alone. A recording that is there is replaced; another file is not.
    ///
    /// - Parameter path: the file's path.
    /// - Throws: ``RecordingError`` when it can't be made, or something else is in its place.
    public init(path: String) throws(RecordingError) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw Recording.systemError(path, "can't be written") }
        guard Self.mayReplace(descriptor) else {
            close(descriptor)
            throw RecordingError(.notARecording, "\(path) is there already and is no recording. Name another file.")
        }
        // What is no file, such as a pipe, has no length.
        _ = ftruncate(descriptor, 0)
        self.path = path
        state = Locked(State(descriptor: descriptor))
    }

    deinit {
        close(state.withLock { $0.descriptor })
    }

    /// Whether a file is empty, a recording, or no regular file.
    private static func mayReplace(_ descriptor: Int32) -> Bool {
        var information = stat()
        guard unsafe fstat(descriptor, &information) == 0 else { return false }
        guard information.st_mode & S_IFMT == S_IFREG else { return true }
        let head = Array("{\"opencorenfc_recording\"".utf8)
        var buffer = [UInt8](repeating: 0, count: head.count)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        return count == 0 || buffer == head
    }

    /// Why the recording stops before the flow does; nil while all is well.
    public var failure: RecordingError? { state.withLock { $0.failure } }

    /// Wraps a reader, so that all that goes on is kept. A recorder takes one reader.
    ///
    /// - Parameter reader: the reader.
    /// - Returns: what is used in its place; the same where there is no reader.
    public func recording(_ reader: NFCEnvironment.Reader) -> NFCEnvironment.Reader {
        switch reader {
        case .none: reader
        case .field(let driver): .field(RecordingField(driver, recorder: self))
        case .discovering(let driver): .discovering(RecordingReader(driver, recorder: self))
        }
    }

    // MARK: What is written

    func begin(_ header: Recording.Header) {
        state.withLock { write(header.line, &$0) }
    }

    /// A number for a tag that was found.
    func nextTag() -> Int {
        state.withLock { state in
            state.tags += 1
            return state.tags
        }
    }

    /// The time that has passed.
    var time: Duration { origin.duration(to: .now) }

    /// Writes a call.
    ///
    /// - Returns: the call, for ``finish(_:_:at:)``.
    func start(_ action: Recording.Action, at time: Duration) -> Recording.Step {
        state.withLock { state in
            var step = Recording.Step(time: time, action: action)
            if case .exchange = action {
                state.exchanges += 1
                step.number = state.exchanges
            }
            // Whether it says more than the look before it shows when it has an outcome.
            if action != state.emptyLook { write(step.line, &state) }
            return step
        }
    }

    /// Writes what came of a call.
    func finish(_ step: Recording.Step, _ outcome: Recording.Outcome, at time: Duration) {
        var step = step
        step.endTime = time
        step.outcome = outcome
        state.withLock { [step] state in
            let isEmptyLook = outcome == .tags([])
            defer { state.emptyLook = isEmptyLook ? step.action : nil }
            if step.action == state.emptyLook {
                if isEmptyLook { return }
                write(step.line, &state)
            }
            write(step.outcomeLines, &state)
        }
    }

    /// Writes that the reader told of a tag that came or left.
    func presenceChanged(at time: Duration) {
        state.withLock { write(Recording.Step(time: time, action: .presence).line, &$0) }
    }

    /// Writes which arrival a tag is near by, unless that was written before.
    func arrived(_ identifier: [UInt8], number: UInt64, at time: Duration) {
        state.withLock { state in
            guard state.arrivals.updateValue(number, forKey: identifier) != number else { return }
            write(Recording.Step(time: time, action: .arrival(identifier, number: number)).line, &state)
        }
    }

    /// Writes text whole, or says once that it can't be.
    private func write(_ text: String, _ state: inout State) {
        guard state.failure == nil else { return }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(state.descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                state.failure = RecordingError(
                    .unreadable,
                    Recording.systemError(path, "can't be written any more, and ends here").reason
                )
                return
            }
        }
    }
}
