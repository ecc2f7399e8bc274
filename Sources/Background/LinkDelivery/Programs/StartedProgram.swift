// SPDX-License-Identifier: Apache-2.0

/// A program that was started without a shell. It inherits only the environment, without the variables that are meant
/// for services.
protocol StartedProgram {
    /// Waits for the program to end.
    ///
    /// - Returns: the status from `waitpid`; nil when the program still runs.
    func wait(_ limit: Duration) throws(DeliveryError) -> Int32?
}

/// Helpers for starting programs.
enum ProgramStart {
    /// Describes a status from `waitpid`.
    static func text(_ status: Int32) -> String {
        status & 0x7F == 0 ? "with status \(status >> 8 & 0xFF)" : "by signal \(status & 0x7F)"
    }

    /// Removes the variables that the system sets for a service only.
    static func environment(_ variables: [String: String]) -> [String: String] {
        variables.filter { name, _ in !ofServices.contains(name) }
    }

    private static let ofServices: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID",
        "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
    ]
}
