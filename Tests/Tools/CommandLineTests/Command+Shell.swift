// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Command {
    /// For a script with an emulation: `happens` waits until its events have a text, or until it has ended.
    static let happens =
        #"happens() { while ! grep -q "$1" events && kill -0 $emulation; do sleep 0.01; done; }"#

    /// Runs a script in a test's folder. `nfc` is the program that was built with the tests.
    ///
    /// A command that waits without end ends with status 124.
    static func shell(_ script: String, in folder: String) throws -> Outcome {
        let program = Command(name: "nfc").path
        let head = "cd '\(folder)' || exit 99\nnfc() { timeout --foreground 60 '\(program)' \"$@\"; }\n"
        return try Command(name: "bash", environment: ["NFC_SHEET": "none"]).run("-c", head + script)
    }
}
