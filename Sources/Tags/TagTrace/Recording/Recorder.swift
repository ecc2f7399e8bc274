// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
public import TagLink

/// Records everything that happens at a reader in a file, line by line. So nothing that was written is lost, however
/// the process ends.
///
/// A call is written before it is made, and its outcome when it is known. Consecutive looks that find nothing are
/// written only once.
public final class Recorder: Sendable {
    private struct State {
        var exchanges = 0
        var tags = 0
        /// The last call, if it was a look that found nothing.
        var emptyLook: Recording.Action?
        /// The last arrival of each tag that was near.
        var arrivals: [[UInt8]: UInt64] = [:]
        /// Finds the passwords, which are not recorded.
        var finder = SecretFinder()
        var failure: RecordingError?
    }

    private let log: PrivateLog
    private let state = Locked(State())
    private let origin = ContinuousClock.now

    /// The path of the file.
    public var path: String { log.path }

    /// Creates the file. Only its owner can read it. An existing recording is replaced, and others lose their access to
    /// it. Any other existing file is not replaced.
    ///
    /// - Parameter path: the file's path.
    /// - Throws: ``RecordingError`` when the file can't be created, or another file is there.
    public init(path: String) throws(RecordingError) {
        do throws(StorageError) {
            log = try PrivateLog(path, replacing: Array("{\"opencorenfc_recording\"".utf8))
        } catch  where error.code == .occupied {
            throw RecordingError(.notARecording, "\(path) is there already and is no recording. Name another file.")
        } catch {
            throw RecordingError(.unwritable, error.reason)
        }
    }

    /// Why the recording ended before the flow did; nil when there was no error.
    public var failure: RecordingError? { state.withLock { $0.failure } }

    /// Wraps a reader, so that everything that happens at it is recorded. Use a recorder for one reader only.
    ///
    /// - Parameter reader: the reader.
    /// - Returns: the reader to use instead; the same value when there is no reader.
    public func recording(_ reader: AttachedReader) -> AttachedReader {
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

    /// Returns a number for a tag that was found.
    func nextTag() -> Int {
        state.withLock { state in
            state.tags += 1
            return state.tags
        }
    }

    /// The time since the recorder was created.
    var time: Duration { origin.duration(to: .now) }

    /// Writes a call.
    ///
    /// - Returns: the call, for ``finish(_:_:at:)``.
    func start(_ action: Recording.Action, at time: Duration) -> Recording.Step {
        state.withLock { state in
            var step = Recording.Step(time: time, action: action.concealed(by: &state.finder))
            if case .exchange = action {
                state.exchanges += 1
                step.number = state.exchanges
            }
            // Only the outcome shows whether this look differs from the one before.
            if action != state.emptyLook { write(step.line, &state) }
            return step
        }
    }

    /// Writes the outcome of a call.
    func finish(_ step: Recording.Step, _ outcome: Recording.Outcome, at time: Duration) {
        var step = step
        step.endTime = time
        step.outcome = outcome
        state.withLock { [step] state in
            if case .frame(let answer) = outcome { _ = state.finder.secrets(inAnswer: answer.bytes) }
            let isEmptyLook = outcome == .tags([])
            defer { state.emptyLook = isEmptyLook ? step.action : nil }
            if step.action == state.emptyLook {
                if isEmptyLook { return }
                write(step.line, &state)
            }
            write(step.outcomeLines, &state)
        }
    }

    /// Writes that the reader reported a tag's arrival or departure.
    func presenceChanged(at time: Duration) {
        state.withLock { write(Recording.Step(time: time, action: .presence).line, &$0) }
    }

    /// Writes the arrival of a tag, unless it was written before. Without a number the tag is gone, or never had one.
    func arrived(_ identifier: [UInt8], number: UInt64?, at time: Duration) {
        state.withLock { state in
            guard state.arrivals[identifier] != number else { return }
            state.arrivals[identifier] = number
            write(Recording.Step(time: time, action: .arrival(identifier, number: number)).line, &state)
        }
    }

    /// Asks a reader whether a tag has stayed near, and writes the answer.
    func recordStay(
        of identifier: [UInt8],
        _ clock: @Sendable () -> Duration,
        _ isStillNear: () async -> Bool
    ) async -> Bool {
        let step = start(.isStillNear(identifier), at: clock())
        let isNear = await isStillNear()
        finish(step, .isPresent(isNear), at: clock())
        return isNear
    }

    /// Writes text completely, or records the error of the first failure.
    private func write(_ text: String, _ state: inout State) {
        guard state.failure == nil else { return }
        do throws(StorageError) {
            try log.append(Array(text.utf8))
        } catch {
            let step = log.isStarted ? " The recording ends here." : ""
            state.failure = RecordingError(.unwritable, error.reason + step)
        }
    }
}
