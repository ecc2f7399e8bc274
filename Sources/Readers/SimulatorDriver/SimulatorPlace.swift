// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// Where a simulator listens for programs.
package enum SimulatorPlace {
    /// The socket of the user's own simulator: `opencorenfc/simulator.sock` in `XDG_RUNTIME_DIR`, by default in
    /// `/run/user/UID`, and without such a folder in `/tmp/opencorenfc-UID`.
    package static var ofUser: String {
        if let folder = EnvironmentVariable.value("XDG_RUNTIME_DIR"), folder.hasPrefix("/") {
            return folder + "/opencorenfc/simulator.sock"
        }
        let usual = "/run/user/\(geteuid())"
        let hasFolder = unsafe access(usual, W_OK) == 0
        return (hasFolder ? usual + "/opencorenfc" : "/tmp/opencorenfc-\(geteuid())") + "/simulator.sock"
    }
}
