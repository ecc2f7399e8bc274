// SPDX-License-Identifier: Apache-2.0
import TextSafety

/// JSON texts of others on one line, for standard output.
package enum ReceivedJSON {
    /// Returns a JSON text with white space instead of line breaks, and with invisible characters escaped. Its value stays
    /// the same. A text that is no JSON object becomes `{"ok":false,…}`.
    package static func line(_ bytes: [UInt8]) -> String {
        guard let text = String(validating: bytes, as: UTF8.self),
            (try? JSONValue(parsing: bytes))?.objectMembers != nil
        else {
            return #"{"ok":false,"error":"not-json","message":"A message is no JSON object."}"#
        }
        return JSONText.line(text)
    }
}
