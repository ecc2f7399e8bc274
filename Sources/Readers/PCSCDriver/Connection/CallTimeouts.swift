// SPDX-License-Identifier: Apache-2.0

/// How long calls to the service may take, and how long the service may be away, in milliseconds.
package struct CallTimeouts: Sendable {
    /// For any call. ISO-DEP allows a card 5 s for a block, and lets it ask for more.
    let call: Int
    /// For reading the readers' states. A service that has just started answers only when its readers' drivers have
    /// answered.
    let look: Int
    /// For a service that has disappeared. Its socket, or its supervisor, restarts it in less time.
    let absence: Int
    /// How long to avoid a service that did not answer when its connection was released.
    let silence: Int

    package init(call: Int, look: Int, absence: Int, silence: Int = 1000) {
        self.call = call
        self.look = look
        self.absence = absence
        self.silence = silence
    }

    /// Limits that people and cards can accept.
    package static let usual = CallTimeouts(call: 20_000, look: 10_000, absence: 4000)

    /// The same limit for calls of every kind.
    package static func same(_ milliseconds: Int) -> CallTimeouts {
        CallTimeouts(
            call: milliseconds,
            look: milliseconds,
            absence: usual.absence,
            silence: max(milliseconds, usual.silence)
        )
    }
}
