// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import NFCSessions
import TagProtocols

/// Works with one tag while the reader has it: reads it, and does the job that waits for it.
struct TagAttendant {
    let happenings: Mailbox<ReaderStation.Happening>
    let handler: StationHandler

    /// - Throws: ``TagError`` when the tag was lost or can't be read now; then it is tried again while the tag is near.
    func attend(_ tag: WatchedTag) async throws(TagError) {
        let identifier = tag.target.identifier
        let wasNear = await withCheckedContinuation { continuation in
            let isSent = happenings.send(.seen(identifier, reply: { continuation.resume(returning: $0) }))
            if !isSent { continuation.resume(returning: false) }
        }
        if wasNear {
            // A tag that was lost in the middle of its job is back.
            guard let order = await handler.jobs.resume(identifier, at: handler.reader) else { return }
            return try await handler.jobs.work(order, with: tag)
        }
        let report = try await read(tag)
        let order = await withCheckedContinuation { continuation in
            let isSent = happenings.send(.arrived(report, reply: { continuation.resume(returning: $0) }))
            if !isSent { continuation.resume(returning: nil) }
        }
        if let order { try await handler.jobs.work(order, with: tag) }
    }

    private func read(_ tag: WatchedTag) async throws(TagError) -> TagReport {
        let identifier = tag.target.identifier
        do throws(TagError) {
            let survey = try await tag.survey()
            return TagReport(
                identifier: identifier,
                technology: tag.target.technology,
                type: tag.forumTag?.type,
                product: await tag.productName(),
                survey: survey
            )
        } catch {
            // A tag that was only swiped is no failure.
            if ![.tagLost, .cancelled, .readerUnavailable].contains(error.code) {
                happenings.send(.unreadable(identifier, error))
            }
            throw error
        }
    }
}
