// SPDX-License-Identifier: Apache-2.0

/// The functions of the PC/SC resource manager that the driver uses: one call for each, without policy.
///
/// Calls wait for the service, the reader and the card, so they belong on a separate thread of the driver. Two calls
/// with one context must not run at the same time, except ``abandon(_:)``.
package protocol SmartCardLayer: Sendable {
    /// Whether the service may be running. This does not start it or ask it anything.
    var isServiceLikely: Bool { get }

    /// Opens a connection to the service.
    ///
    /// - Parameter cut: ends the attempt from another thread.
    /// - Throws: `timeout` when the service runs but does not answer, `cancelled` when the attempt was ended.
    func establishContext(_ cut: CancellationSignal) throws(SmartCardError) -> Int

    /// Closes a connection to the service, and everything that was opened through it.
    func releaseContext(_ context: Int)

    /// Ends another thread's call with the context, without waiting. Afterwards the context can only be released.
    func abandon(_ context: Int)

    /// The names of the connected readers. No reader is not an error.
    func listReaders(_ context: Int) throws(SmartCardError) -> [String]

    /// Waits until a reader's state differs from the known state.
    ///
    /// - Parameters:
    ///   - context: the connection to the service.
    ///   - milliseconds: how long to wait; nil for no limit, 0 to check without waiting.
    ///   - states: the readers and their known states.
    /// - Returns: the same readers in the same order with their current states; nil when nothing has changed in time.
    func waitForChange(
        _ context: Int,
        milliseconds: UInt32?,
        of states: [SmartCardReaderState]
    ) throws(SmartCardError) -> [SmartCardReaderState]?

    /// Waits until the service may have started, or until the time is over.
    ///
    /// - Parameters:
    ///   - milliseconds: how long to wait.
    ///   - cut: ends the wait from another thread.
    func waitForService(milliseconds: Int, _ cut: CancellationSignal)

    /// Opens a card. With `direct`, opens the reader whether it has a card or not.
    func connect(_ context: Int, reader: String, _ share: SmartCardShare) throws(SmartCardError) -> SmartCardHandle

    /// Resets an open card.
    func reset(_ card: SmartCardHandle, _ share: SmartCardShare) throws(SmartCardError) -> SmartCardHandle

    /// Closes a card.
    func disconnect(_ card: SmartCardHandle, _ disposition: SmartCardDisposition)

    /// Sends a command APDU.
    ///
    /// - Returns: the response. It may be empty: some readers report a lost card in this way.
    func transmit(_ card: SmartCardHandle, _ command: [UInt8]) throws(SmartCardError) -> [UInt8]

    /// Asks the reader's driver for an attribute.
    ///
    /// - Parameter identifier: SCARD_ATTR_…
    /// - Throws: ``SmartCardError`` with `removedCard` once the service has seen that the opened card has left, even if
    ///   another card is present; `unsupportedFeature` when the driver does not have the attribute.
    func attribute(_ card: SmartCardHandle, _ identifier: UInt32) throws(SmartCardError) -> [UInt8]

    /// Sends a control code to the reader.
    func control(_ card: SmartCardHandle, code: UInt32, _ data: [UInt8]) throws(SmartCardError) -> [UInt8]
}
