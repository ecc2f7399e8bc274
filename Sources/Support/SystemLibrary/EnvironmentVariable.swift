// SPDX-License-Identifier: Apache-2.0
import CSystemCalls

/// Variables of the process's environment.
public enum EnvironmentVariable {
    /// The value of a variable.
    ///
    /// A program that runs with the rights of somebody else than who started it (set-user-ID, file capabilities) has no variables
    /// here: who starts it must not choose the paths and sockets that it uses. See secure_getenv(3).
    ///
    /// - Parameter name: the variable's name.
    /// - Returns: its value; nil when it is unset.
    public static func value(_ name: String) -> String? {
        unsafe ocn_environment_value(name).map { unsafe String(cString: $0) }
    }
}
