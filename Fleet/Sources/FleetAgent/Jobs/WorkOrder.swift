// SPDX-License-Identifier: Apache-2.0
import FleetModel

/// A job that is to be done with the tag that is there.
struct WorkOrder: Sendable {
    var job: Job
    /// What the job has begun with. It is in the journal before the work begins.
    var beginning: JobBoard.Beginning
    /// Whether the work had begun before, and may be done already.
    var isResumed: Bool
}

/// How the work with a tag went.
enum WorkResult: Sendable {
    /// The job has ended.
    case ended(JobOutcome)
    /// The tag was lost, and was left like this.
    case lost(JobOutcome.TagState)
}
