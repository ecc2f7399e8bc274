// SPDX-License-Identifier: Apache-2.0
import FleetModel

/// A job to perform with the tag on the reader.
struct WorkOrder: Sendable {
    var job: Job
    /// The tag and serial number assigned to the job. Journaled before the work begins.
    var beginning: JobBoard.Beginning
    /// Whether the job was started before, so some of its work may be done.
    var isResumed: Bool
}

/// The result of working with a tag.
enum WorkResult: Sendable {
    /// The job has ended.
    case ended(JobOutcome)
    /// The tag was lost in this state.
    case lost(JobOutcome.TagState)
}
