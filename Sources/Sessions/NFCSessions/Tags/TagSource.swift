// SPDX-License-Identifier: Apache-2.0
import TagProtocols

/// The source of a session's tags: a reader, and how to find and select tags on it.
///
/// Calls are made one at a time.
protocol TagSource: Sendable {
    /// Looks once for tags, as if the field had just been turned on. Tags that were found before become invalid.
    ///
    /// - Returns: the tags, and the one that is selected, if any.
    func find(_ plan: PollingPlan) async throws(TagError) -> (tags: [ActivatedTag], selected: ActivatedTag?)

    /// Makes a tag ready for commands.
    func wake(_ tag: ActivatedTag) async throws(TagError)

    /// Deselects the selected tag, so that another one can be used.
    func letGo(of tag: ActivatedTag) async throws(TagError)

    /// Returns whether the selected tag is still near, after it did not answer a command. Then it accepts commands
    /// again.
    func checkPresence(_ tag: ActivatedTag) async -> Bool

    /// Asks the selected tag whether it is near, with the cheapest exchange of its technology that changes nothing.
    /// Then it accepts commands again.
    func isPresent(_ tag: ActivatedTag) async -> Bool

    /// Ends the running call, from any thread, if cancelling its task does not.
    func interrupt()

    /// Turns the field off, if possible.
    func shutDown() async
}
