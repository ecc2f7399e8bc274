// SPDX-License-Identifier: Apache-2.0

/// The longest that calls to the service may take, and the service may be away, in milliseconds.
package struct CallLimits: Sendable {
    /// Any call. ISO-DEP lets a card take 5 s for a block, and ask for more.
    let call: Int
    /// A look at the readers. A service that has just been started answers when the drivers of its readers have.
    let look: Int
    /// A service that was there and is gone. Its socket, or its supervisor, starts it again in less.
    let absence: Int
    /// How long a service that did not answer to a goodbye is not asked again.
    let silence: Int

    package init(call: Int, look: Int, absence: Int, silence: Int = 1000) {
        self.call = call
        self.look = look
        self.absence = absence
        self.silence = silence
    }

    /// What people and cards can wait for.
    package static let usual = CallLimits(call: 20_000, look: 10_000, absence: 4000)

    /// The same limit for calls of every kind.
    package static func same(_ milliseconds: Int) -> CallLimits {
        CallLimits(
            call: milliseconds,
            look: milliseconds,
            absence: usual.absence,
            silence: max(milliseconds, usual.silence)
        )
    }
}
