// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension Command {
    /// Runs the program in its own terminal, as a person does: waits for a new text on the screen, then
    /// types.
    func runInTerminal(_ steps: [(until: String, type: String)], _ arguments: String...) throws -> Outcome {
        let terminal = try TerminalSession(self, arguments)
        for step in steps {
            try terminal.wait(for: step.until)
            // What was drawn before the program listens would be lost with the settings of the terminal.
            usleep(50_000)
            try terminal.type(step.type)
        }
        return Outcome(status: try terminal.end(), output: terminal.output, error: "")
    }
}
