// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// A step of an arrival at which a test ends the service: `NFC_DIE_AT` names it.
enum Step {
    #if DEBUG
        private static let fatal = EnvironmentVariable.value("NFC_DIE_AT")

        static func reached(_ step: String) {
            if step == fatal { kill(getpid(), SIGKILL) }
        }
    #else
        static func reached(_: String) {}
    #endif
}
