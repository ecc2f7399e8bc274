// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Whether the app's tags are still near.
extension ReaderSession {
    /// How long the connected tag has to be idle before it is asked whether it is near.
    private static let presenceInterval = Duration.milliseconds(250)

    /// Returns whether a tag is connected and still near, as far as known.
    ///
    /// A reader that reports departures has already reported it. With any other reader, such as a PN532, this call
    /// makes the session ask the tag in the background, unless it had a command in the last 250 ms. The next call then
    /// has the result.
    ///
    /// - Parameter tag: one of the tags found last.
    /// - Returns: true when it is connected, and nothing shows that it has left.
    public func isConnected(to tag: ConnectableTag) -> Bool {
        guard connectedTag === tag else { return false }
        askInTheBackground(tag)
        return true
    }

    private func askInTheBackground(_ tag: ConnectableTag) {
        let now = environment.clock.now
        let asks = state.withLock { state in
            guard state.machine.phase == .paused, state.presence == nil, !state.isAsking,
                now - state.lastContact >= Self.presenceInterval
            else { return false }
            state.isAsking = true
            return true
        }
        guard asks else { return }
        channel.enqueue { [self] channel in
            await channel.noticeDeparture(of: tag, from: driver)
            state.withLock { $0.isAsking = false }
            noteContact()
        }
    }

    /// Stores the time of the tag's last command.
    func noteContact() {
        let now = environment.clock.now
        state.withLock { $0.lastContact = now }
    }

    /// Stores which tag is connected. The time limit starts with a new connection, but not when the same tag is
    /// connected again.
    func setConnected(_ tag: ConnectableTag) {
        let isAnother = state.withLock { state in
            defer { state.connected = tag }
            return state.connected !== tag
        }
        if isAnother { handle(.tagConnected) }
    }

    /// Removes the connection if the reader has released the tag, for example to select another one.
    func dropConnection(unlessSelected selected: ConnectableTag?) {
        state.withLock { if $0.connected !== selected { $0.connected = nil } }
    }

    /// The reader reports that a tag may have arrived or left. The app's tags are checked.
    func noticeDepartures() {
        guard driver.reportsPresenceInTime else { return }
        let tags = state.withLock { $0.machine.phase == .paused ? $0.found : [] }
        guard !tags.isEmpty else { return }
        // These checks are not part of the flow in a recording.
        let driver = driver.unrecorded
        guard driver is any FieldDriver else {
            return channel.enqueue { channel in
                for tag in tags { await channel.noticeDeparture(of: tag, from: driver) }
            }
        }
        // This driver knows without waiting which tags are near.
        for tag in tags {
            guard let arrival = tag.stay.arrival, driver.arrival(of: tag.stay.identifier) != arrival else { continue }
            tag.noticeDeparture()
        }
    }
}
