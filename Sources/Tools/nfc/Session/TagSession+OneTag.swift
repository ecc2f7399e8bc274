// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import TagProtocols

extension TagSession {
    /// Waits for a tag that is alone near the reader, does one piece of work on it, and ends the session.
    ///
    /// - Parameters:
    ///   - doneMessage: what the sheet says when the work is done.
    ///   - failure: the sheet's text when the work returned a value but failed; returns nil when it succeeded.
    ///   - work: the work, called with this session. The sheet shows its error.
    /// - Returns: the result of the work.
    func withOneTag<Value>(
        doneMessage: String,
        failure: (Value) -> String? = { _ in nil },
        _ work: (TagSession, ConnectableTag) async throws(CommandFailure) -> Value
    ) async throws(CommandFailure) -> Value {
        var result: Result<Value, CommandFailure>?
        var hasTimedOut = false
        var hasSeveral = false
        for await event in events {
            switch event {
            case .becameActive: break
            case .detected(let tags):
                hasSeveral = tags.count > 1
                guard
                    !hasSeveral,
                    let tag = tags.first
                else {
                    session.alertMessage = Self.severalTags
                    _ = environment.clock.schedule(after: Self.pause) { [session] in session.restartPolling() }
                    continue
                }
                do throws(CommandFailure) {
                    let value = try await work(self, tag)
                    result = .success(value)
                    if let message = failure(value) {
                        session.invalidate(errorMessage: message)
                    } else {
                        session.alertMessage = doneMessage
                        session.endAfterFirstMessage()
                    }
                } catch {
                    result = .failure(error)
                    session.invalidate(errorMessage: error.message)
                }
            case .ended(let end):
                hasTimedOut = result == nil && end == .timeout
                // The end that cut the work off is the reason of the failure.
                var visit = TagVisit.none
                if case .failure(let failure)? = result, failure.isCutOff { (result, visit) = (nil, .failed) }
                result = result ?? CommandFailure(end, after: visit, on: environment.driver).map { .failure($0) }
            }
        }
        await close()
        try checkFiles()
        if hasTimedOut {
            if hasSeveral { throw CommandFailure(.refused, "several-tags", Self.severalTags) }
            try await checkReader()
        }
        guard let result else { throw CommandFailure(.cancelled, "cancelled", "Cancelled.") }
        return try result.get()
    }

    /// How long the sheet says that there are several tags, before it looks again.
    private static let pause = Duration.milliseconds(500)

    private static let severalTags = "There is more than one tag. Remove all but one."

    /// Runs a procedure on a tag of any kind.
    func work<Value: Sendable>(
        with tag: ConnectableTag,
        _ procedure: @escaping @Sendable (ActivatedTag) async throws(TagError) -> Value
    ) async throws(CommandFailure) -> Value {
        do throws(CommandError) {
            return try await session.work(with: tag, procedure)
        } catch {
            throw CommandFailure(error)
        }
    }
}
