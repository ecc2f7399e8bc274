// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import FleetModel
import NFCSessions
import TagProtocols

/// Handles one tag while the reader is connected to it: reads the tag, and performs the job waiting for it.
struct TagAttendant {
    let events: Mailbox<ReaderStation.Event>
    let handler: StationHandler

    /// - Throws: ``TagError`` if the tag was lost or can't be read now. The tag is then retried while it is near.
    func attend(_ tag: WatchedTag) async throws(TagError) {
        let identifier = tag.target.identifier
        let wasNear = await withCheckedContinuation { continuation in
            let isSent = events.send(.seen(identifier, reply: { continuation.resume(returning: $0) }))
            if !isSent { continuation.resume(returning: false) }
        }
        if wasNear {
            // A tag that was lost during its job has returned.
            guard let order = await handler.jobs.resume(identifier, at: handler.reader) else { return }
            return try await handler.jobs.work(order, with: tag)
        }
        let report = try await read(tag)
        let order = await withCheckedContinuation { continuation in
            let isSent = events.send(.arrived(report, reply: { continuation.resume(returning: $0) }))
            if !isSent { continuation.resume(returning: nil) }
        }
        if let order { try await handler.jobs.work(order, with: tag) }
    }

    private func read(_ tag: WatchedTag) async throws(TagError) -> TagReport {
        let identifier = tag.target.identifier
        do throws(TagError) {
            let ndefStatus = try await tag.queryNDEFStatus()
            return TagReport(
                identifier: identifier,
                technology: tag.target.technology,
                type: tag.forumTag?.type,
                product: await tag.productName(),
                ndefStatus: ndefStatus
            )
        } catch {
            // A tag that was only swiped past is not an error.
            if ![.tagLost, .cancelled, .readerUnavailable].contains(error.code) {
                events.send(.unreadable(identifier, error))
            }
            throw error
        }
    }
}
