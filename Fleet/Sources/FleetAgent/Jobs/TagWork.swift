// SPDX-License-Identifier: Apache-2.0
import FleetModel
import NFCSessions
import TagProtocols

/// Performs a job with a tag.
///
/// Safe to repeat with the same tag: what was already written is not written again.
struct TagWork {
    let order: WorkOrder
    let node: FleetName
    /// Looks up a secret by name.
    let secret: (FleetName) throws(JobRefusal) -> TagSecret

    struct Failure: Error {
        var code: JobRefusal.Code
        var reason: String
        /// Whether the failure means that the tag was lost.
        var isLoss = false

        init(_ error: TagError) {
            code = JobRefusal.Code(error.code.description)
            reason = error.reason
            isLoss = [.tagLost, .cancelled, .readerUnavailable].contains(error.code)
        }

        init(_ refusal: JobRefusal) { (code, reason) = (refusal.code, refusal.reason) }
    }

    /// Performs the job, and returns its result.
    func perform(on tag: WatchedTag) async -> WorkResult {
        var state = JobOutcome.TagState.unchanged
        var outcome = JobOutcome(.done, job: order.job.id, kind: order.job.work.name)
        outcome.reader = order.beginning.reader
        outcome.uid = order.beginning.uid
        outcome.serial = order.beginning.serial
        do throws(Failure) {
            try await perform(on: tag, &state)
        } catch {
            if error.isLoss {
                // If this attempt changed nothing, report the state an earlier attempt left.
                return .lost(order.isResumed && state == .unchanged ? order.beginning.tagState : state)
            }
            outcome.result = .refused
            outcome.code = error.code
            outcome.message = error.reason
        }
        outcome.tagState = state
        return .ended(outcome)
    }

    private func perform(on tag: WatchedTag, _ state: inout JobOutcome.TagState) async throws(Failure) {
        guard let forumTag = tag.forumTag else {
            throw Failure(TagError(.unsupported, "This kind of tag can't hold NDEF."))
        }
        switch order.job.work {
        case .write(let template, let locks): try await write(template, locks: locks, forumTag, &state)
        case .lock: try await lock(forumTag, &state)
        case .protect(let secret): try await protect(secret, forumTag, &state)
        case .indicate, .allow, .cancel: break
        }
    }

    // MARK: Write

    private func write(
        _ template: MessageTemplate,
        locks: Bool,
        _ tag: any ForumTag,
        _ state: inout JobOutcome.TagState
    ) async throws(Failure) {
        let message = try message(template)
        let ndefStatus = try await asking { () throws(TagError) in try await tag.queryNDEFStatus() }
        let isReadOnly = ndefStatus.detection?.access == .readOnly
        if order.isResumed, ndefStatus.message == message {
            state = .written
        } else {
            if locks { try await asking { () throws(TagError) in try await tag.checkLocking() } }
            try await write(message, over: ndefStatus.message, tag, &state)
        }
        guard locks else { return }
        if order.isResumed, isReadOnly {
            state = .locked
        } else {
            try await lock(tag, &state, orElse: .written)
        }
    }

    private func write(
        _ message: [UInt8],
        over old: [UInt8]?,
        _ tag: any ForumTag,
        _ state: inout JobOutcome.TagState
    ) async throws(Failure) {
        do throws(TagError) {
            state = .uncertain
            try await tag.writeNDEF(message)
            try await tag.checkNDEF(message)
            state = .written
        } catch {
            switch error.code {
            // These errors occur before anything is written.
            case .readOnly, .messageTooLong, .keyNeeded, .unsupported: state = .unchanged
            case .tagLost, .cancelled, .readerUnavailable: break
            default: state = await Self.state(of: tag, new: message, old: old)
            }
            throw Failure(error)
        }
    }

    /// Reads the tag to find out what a failed write has left.
    private static func state(of tag: any ForumTag, new: [UInt8], old: [UInt8]?) async -> JobOutcome.TagState {
        tag.forgetMemory()
        guard let message = try? await tag.readNDEF() else { return .uncertain }
        return message == new ? .written : message == old ? .unchanged : .uncertain
    }

    private func message(_ template: MessageTemplate) throws(Failure) -> [UInt8] {
        let values = MessageTemplate.Values(
            serial: order.beginning.serial,
            uid: order.beginning.uid,
            node: node,
            reader: order.beginning.reader
        )
        do throws(JobRefusal) {
            return try template.message(values)
        } catch {
            throw Failure(error)
        }
    }
}
