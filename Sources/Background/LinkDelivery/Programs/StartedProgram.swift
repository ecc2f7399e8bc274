// SPDX-License-Identifier: Apache-2.0

/// A program that was started with words of its own: no shell sees them, and nothing of this process goes along but its
/// environment without what is meant for services.
protocol StartedProgram {
    /// Waits for the program to end.
    ///
    /// - Returns: the status that `waitpid` gives; nil when it still runs.
    func wait(_ limit: Duration) throws(DeliveryError) -> Int32?
}

/// What programs are started with.
enum ProgramStart {
    /// What a status says, for people.
    static func text(_ status: Int32) -> String {
        status & 0x7F == 0 ? "with status \(status >> 8 & 0xFF)" : "by signal \(status & 0x7F)"
    }

    /// An environment without the variables that the system gives a service for itself alone.
    static func environment(_ variables: [String: String]) -> [String: String] {
        variables.filter { name, _ in !ofServices.contains(name) }
    }

    private static let ofServices: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID",
        "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
    ]
}
