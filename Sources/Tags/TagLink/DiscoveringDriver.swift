// SPDX-License-Identifier: Apache-2.0

/// A reader that finds and activates tags itself, such as a PC/SC reader or a PN532.
///
/// Make one call at a time. A driver that has to wait for its hardware does so on its own threads.
public protocol DiscoveringDriver: ReaderDriver {
    /// Whether every value of a ``DiscoveredTag/Identity`` came from the tag. False when the reader only reports an
    /// identifier and the kind of tag, so that ATQA, SAK and DSFID were derived from these.
    var reportsActivationData: Bool { get }

    /// Looks for tags once. Tags that were found before become invalid; their links throw `tagRemoved`.
    ///
    /// - Parameters:
    ///   - technologies: the technologies to look for. Others are skipped.
    ///   - systemCodes: the FeliCa systems to poll for, one after the other. A tag is found by the first one that it
    ///     has.
    /// - Returns: the tags that were found; may be empty.
    /// - Throws: ``LinkError`` with `readerUnavailable` when the reader is gone, `transmission` when another try may
    ///   succeed, `inUse` while another program uses the tag, or `cancelled`.
    func discover(
        _ technologies: Set<Technology>,
        systemCodes: [UInt16]
    ) async throws(LinkError) -> [DiscoveredTag]

    /// Makes a tag the current one. If another tag was current before, a card's protocol restarts.
    ///
    /// - Parameter tag: a tag that the last ``discover(_:systemCodes:)`` returned.
    /// - Throws: ``LinkError`` with `tagRemoved` or `timeout` when the tag is gone, `readerUnavailable` or `cancelled`.
    func select(_ tag: DiscoveredTag) async throws(LinkError)

    /// Stops the running operation, from any thread. It throws `cancelled`, and so does every operation that starts
    /// before ``release()``.
    ///
    /// A session that ends calls this and also cancels the waiting task. The driver may not notice the cancellation
    /// while the task runs on its ``ReaderDriver/executor``.
    func interrupt()

    /// Releases the tags, and turns the field off if the reader can. Other programs may use the reader afterwards.
    func release() async
}

extension DiscoveringDriver {
    /// True: the default is for a reader that reports the tags' own answers.
    public var reportsActivationData: Bool { true }

    /// Does nothing: the default is for a driver that notices when its task is cancelled.
    public func interrupt() {}
}
