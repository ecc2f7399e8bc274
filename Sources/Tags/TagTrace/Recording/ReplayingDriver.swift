// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// A reader that replays a recording.
package protocol ReplayingDriver: ReaderDriver {
    var replay: RecordingReplay { get }
}

extension ReplayingDriver {
    var name: String { replay.name }
    var technologies: Set<Technology> { replay.technologies }
    var statistics: LinkStatistics { replay.statistics }
    var executor: (any SerialExecutor & TaskExecutor)? { replay.executor }

    func observePresence(_ handler: @escaping @Sendable () -> Void) -> PresenceObservation? {
        replay.observePresence(handler)
    }

    var reportsPresenceInTime: Bool { false }

    func arrival(of identifier: [UInt8]) -> UInt64? { replay.arrival(of: identifier) }

    func isStillNear(_ identifier: [UInt8], since arrival: UInt64) async -> Bool { replay.isStillNear(identifier) }
}
