// SPDX-License-Identifier: Apache-2.0

/// Whose answer to a call counts.
///
/// A program on the bus may send an answer to a call that was never made to it: the number of a call is easy to guess, and
/// sd-bus looks at nothing else. So the bus layer notes for each call who was asked, by the bus's own name of the connection, and
/// takes no answer of anybody else. The bus itself sets the sender of each message.
struct ReplyLedger {
    /// The bus's name of itself. It answers in place of a connection that is gone, always by an error.
    static let daemon = "org.freedesktop.DBus"
    /// Calls that are never answered are forgotten beyond that many, the oldest first.
    static let capacity = 1024

    private var asked: [UInt64: String] = [:]
    private var order: [UInt64] = []

    /// Notes a call.
    ///
    /// - Parameters:
    ///   - cookie: the number of the call.
    ///   - connection: who was asked: the bus's own name of a connection (`:1.42`), or ``daemon``.
    mutating func note(_ cookie: UInt64, to connection: String) {
        asked[cookie] = connection
        order.append(cookie)
        while order.count > Self.capacity { asked[order.removeFirst()] = nil }
    }

    /// Takes an answer.
    ///
    /// - Parameters:
    ///   - cookie: the number of the call that it answers.
    ///   - sender: who sent it.
    ///   - isError: whether it is an error.
    /// - Returns: whether it counts. Only the first answer to a call does.
    mutating func take(_ cookie: UInt64, from sender: String, isError: Bool) -> Bool {
        guard let connection = asked[cookie], sender == connection || (isError && sender == Self.daemon) else {
            return false
        }
        asked[cookie] = nil
        order.removeAll { $0 == cookie }
        return true
    }
}
