// SPDX-License-Identifier: Apache-2.0

/// A visible notification: the program that shows it, and its number there.
nonisolated struct ShownNotification: Hashable {
    var sender: String
    var number: UInt32
}
