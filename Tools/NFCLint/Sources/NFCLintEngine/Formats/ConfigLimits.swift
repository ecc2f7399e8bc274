// SPDX-License-Identifier: Apache-2.0

/// Cuts extremely long lists and texts, so that rules can compare all values of a list.
struct ConfigLimits {
    /// The maximum number of values in a list.
    static let longestList = 1000
    /// The maximum size of a text, in bytes.
    static let longestText = 10_000

    /// The first omission, as a sentence with its position; nil if nothing was omitted.
    private(set) var problem: FormatError?

    /// Cuts a value at the limits.
    mutating func cut(_ value: ConfigValue) -> ConfigValue {
        var result = value
        switch value.content {
        case .string(let text) where text.utf8.count > Self.longestText:
            note(
                "A string has \(text.utf8.count) bytes; everything after the first \(Self.longestText) was ignored.",
                value
            )
            result.content = .string(String(decoding: text.utf8.prefix(Self.longestText), as: UTF8.self))
        case .array(let values):
            if values.count > Self.longestList {
                note(
                    "A list has \(values.count) values; everything after the first \(Self.longestList) was ignored.",
                    value
                )
            }
            result.content = .array(values.prefix(Self.longestList).map { cut($0) })
        case .dictionary(var entries):
            for index in entries.indices { entries[index].value = cut(entries[index].value) }
            result.content = .dictionary(entries)
        default: break
        }
        return result
    }

    private mutating func note(_ reason: String, _ value: ConfigValue) {
        problem = problem ?? FormatError(reason, value.position)
    }
}
