// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// Formats received JSON as one line for standard output.
package enum ReceivedJSON {
    /// Returns the JSON on one line, with invisible characters escaped. Its value does not change. Text that is not a
    /// JSON object becomes `{"ok":false,…}`.
    package static func line(_ bytes: [UInt8]) -> String {
        guard let text = String(validating: bytes, as: UTF8.self),
            (try? JSONValue(parsing: bytes))?.objectMembers != nil
        else { return #"{"ok":false,"error":"not-json","message":"A message is not a JSON object."}"# }
        return JSONText.line(text)
    }
}
