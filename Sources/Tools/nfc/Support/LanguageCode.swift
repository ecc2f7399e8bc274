// SPDX-License-Identifier: Apache-2.0
import NDEF

/// The language of a text, as a record can have it (NFC Forum Text RTD 1.0, 3.2).
enum LanguageCode {
    /// What a code has to be, for messages.
    static let requirement = "a language code of 1 to 63 ASCII characters, such as en or de-CH"

    static func isValid(_ code: String) -> Bool {
        (try? TextRecord("", language: code).makeRecord(identifier: [])) != nil
    }
}
