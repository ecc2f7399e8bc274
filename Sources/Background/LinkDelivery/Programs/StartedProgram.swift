// SPDX-License-Identifier: Apache-2.0

/// A program that was started without a shell. It inherits only the environment, without the variables that are meant
/// for services.
protocol StartedProgram {
    /// Waits for the program to end.
    ///
    /// - Returns: the status from `waitpid`; nil when the program still runs.
    func wait(_ limit: Duration) throws(DeliveryError) -> Int32?
}
