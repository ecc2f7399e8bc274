// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Whether the tags that an app has are still near.
extension ReaderSession {
    /// How long the connected tag is left alone before it is asked whether it is near.
    private static let presenceInterval = Duration.milliseconds(250)

    /// Whether a tag is the connected one, and near as far as is known.
    ///
    /// A reader that tells when tags leave has told it. On any other reader, such as a PN532, the question has the tag
    /// asked meanwhile, unless it had a command in the last 250 ms; the answer shows when the question comes again.
    ///
    /// - Parameter tag: one of the tags found last.
    /// - Returns: true when it is connected and nothing has shown that it has left.
    public func isConnected(to tag: DetectedTag) -> Bool {
        guard connectedTag === tag else { return false }
        askInTheBackground(tag)
        return true
    }

    private func askInTheBackground(_ tag: DetectedTag) {
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

    /// Remembers when the tag had its last command.
    func noteContact() {
        let now = environment.clock.now
        state.withLock { $0.lastContact = now }
    }

    /// Makes a tag the connected one. The time of a connection begins with it, and not when the same tag is connected again.
    func setConnected(_ tag: DetectedTag) {
        let isAnother = state.withLock { state in
            defer { state.connected = tag }
            return state.connected !== tag
        }
        if isAnother { handle(.tagConnected) }
    }

    /// Takes it back that a tag is connected when the reader has let go of it, as it does for another one.
    func dropConnection(unlessSelected selected: DetectedTag?) {
        state.withLock { if $0.connected !== selected { $0.connected = nil } }
    }

    /// The reader says that a tag may have come or gone: those that the app has may be among them.
    func noticeDepartures() {
        guard driver.reportsPresenceInTime else { return }
        let tags = state.withLock { $0.machine.phase == .paused ? $0.found : [] }
        guard !tags.isEmpty else { return }
        // The questions are not part of the flow that a recording keeps.
        let driver = driver.unrecorded
        guard driver is any FieldDriver else {
            return channel.enqueue { channel in
                for tag in tags { await channel.noticeDeparture(of: tag, from: driver) }
            }
        }
        // Its driver says without a wait what is near.
        for tag in tags {
            guard let arrival = tag.stay.arrival, driver.arrival(of: tag.stay.identifier) != arrival else { continue }
            tag.noticeDeparture()
        }
    }
}
