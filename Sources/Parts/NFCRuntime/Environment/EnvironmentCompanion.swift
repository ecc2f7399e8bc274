// SPDX-License-Identifier: Apache-2.0

/// What belongs to the reader of an environment, such as the files of its tags, and works after each session.
package protocol EnvironmentCompanion: AnyObject, Sendable {
    /// A session of the environment has ended.
    func sessionEnded()
}
