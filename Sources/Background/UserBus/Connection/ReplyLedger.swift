// SPDX-License-Identifier: Apache-2.0

/// Decides whose answer to a call counts.
///
/// A program on the bus may answer a call that was made to another program: call numbers are easy to guess, and sd-bus
/// checks nothing else. So for each call, the ledger stores the unique name of the connection that was asked, and only
/// accepts its answer. The bus itself sets the sender of each message.
struct ReplyLedger {
    /// The bus's own name. It answers for a connection that is gone, always with an error.
    static let daemon = "org.freedesktop.DBus"
    /// The maximum number of stored calls. When there are more, the oldest is forgotten.
    static let capacity = 1024

    private var asked: [UInt64: String] = [:]
    private var order: [UInt64] = []

    /// Stores a call.
    ///
    /// - Parameters:
    ///   - cookie: the number of the call.
    ///   - connection: the unique name of the connection that was asked (`:1.42`), or ``daemon``.
    mutating func note(_ cookie: UInt64, to connection: String) {
        asked[cookie] = connection
        order.append(cookie)
        while order.count > Self.capacity { asked[order.removeFirst()] = nil }
    }

    /// Returns whether a connection, or ``daemon``, owes an answer to a stored call.
    func awaits(_ connection: String) -> Bool { asked.values.contains(connection) }

    /// Checks an answer.
    ///
    /// - Parameters:
    ///   - cookie: the number of the call that it answers.
    ///   - sender: the sender's unique name.
    ///   - isError: whether it is an error.
    /// - Returns: whether the answer counts. Only the first answer to a call does.
    mutating func take(_ cookie: UInt64, from sender: String, isError: Bool) -> Bool {
        guard let connection = asked[cookie], sender == connection || (isError && sender == Self.daemon) else {
            return false
        }
        asked[cookie] = nil
        order.removeAll { $0 == cookie }
        return true
    }
}
