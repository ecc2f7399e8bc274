// SPDX-License-Identifier: Apache-2.0

/// Subscribing to signals, and taking names.
extension BusConnection {
    /// Subscribes to signals.
    ///
    /// - Parameter rule: the match rule. It should have a `sender`, so that signals of other connections do not arrive.
    package func listen(to rule: String) throws(BusError) {
        _ = try ask(BusCall(.daemon, "AddMatch", [.string("type='signal'," + rule)]))
    }

    /// Takes a name.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - yields: whether a program can later take the name from this one with `replaces`. The bus then reports
    ///     `NameLost`.
    ///   - replaces: whether to take the name from a program that owns and yields it.
    /// - Throws: ``BusError``; with `nameTaken` when another program owns the name and keeps it.
    package func take(_ name: String, yields: Bool = false, replaces: Bool = false) throws(BusError) {
        // Without waiting in the queue (D-Bus Specification 0.38, RequestName): 1 is DBUS_NAME_FLAG_ALLOW_REPLACEMENT,
        // 2 is DBUS_NAME_FLAG_REPLACE_EXISTING, 4 is DBUS_NAME_FLAG_DO_NOT_QUEUE. The answer 1 means that this program
        // owns the name.
        let flags: UInt32 = 4 | (yields ? 1 : 0) | (replaces ? 2 : 0)
        let values = try ask(BusCall(.daemon, "RequestName", [.string(name), .uint32(flags)]))
        let answer = values.first?.integer
        guard answer == 1 else { throw BusError(.nameTaken, "The name \(name) can't be had: another program has it.") }
    }
}
