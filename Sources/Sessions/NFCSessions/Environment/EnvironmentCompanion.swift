// SPDX-License-Identifier: Apache-2.0

/// Something that belongs to an environment's reader and has work to do after each session, such as saving the files of
/// its tags.
package protocol SessionEndObserver: AnyObject, Sendable {
    /// A session of the environment has ended.
    func sessionEnded()
}
