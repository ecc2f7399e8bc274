// SPDX-License-Identifier: Apache-2.0
import Foundation

extension NFCReaderError: CustomStringConvertible {
    /// The error as a phone prints it: with its text and its user info.
    ///
    /// Foundation on Linux would print the reason in place of the text, or `(null)` without a reason.
    public var description: String {
        let start = "Error Domain=\(_nsError.domain) Code=\(_nsError.code)"
        let info = _nsError.userInfo
        guard !info.isEmpty else { return "\(start) \"(null)\"" }
        // The text comes first; a phone's order is undefined.
        let others = info.keys.filter { $0 != NSLocalizedDescriptionKey }.sorted()
        let keys = others.count < info.count ? [NSLocalizedDescriptionKey] + others : others
        let values = keys.map { key in "\(key)=\(info[key] ?? "")" }
        return "\(start) \"\(localizedDescription)\" UserInfo={\(values.joined(separator: ", "))}"
    }
}
