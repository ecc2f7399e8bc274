// SPDX-License-Identifier: Apache-2.0

/// A link to one tag that its reader selects itself. REQA, polling and inventory can't be sent over it.
public protocol SelfActivatingLink: FrameLink {
    /// Selects the tag again, for example after it refused a command and went silent.
    ///
    /// - Throws: ``LinkError`` with `tagRemoved` or `timeout` when the tag doesn't answer or another tag does,
    ///   `readerUnavailable` or `cancelled`.
    func reactivate() async throws(LinkError)
}
