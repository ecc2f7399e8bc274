// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport

/// The environment variables of the process.
package enum EnvironmentVariable {
    /// Returns the value of a variable.
    ///
    /// The result is nil in a program that runs with other rights than its caller's (set-user-ID, file capabilities),
    /// because the caller must not choose the paths and sockets that it uses. See secure_getenv(3).
    ///
    /// - Parameter name: the variable's name.
    /// - Returns: its value; nil when it is unset.
    package static func value(_ name: String) -> String? {
        unsafe ocn_environment_value(name).map { unsafe String(cString: $0) }
    }
}
