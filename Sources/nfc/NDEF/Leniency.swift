// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF

/// A fault that can be overlooked, by the name of its error.
enum Leniency: String, ExpressibleByArgument, CaseIterable {
    case trailingData = "trailing-data"
    case emptyInput = "empty-input"
    case missingMessageBegin = "missing-mb"
    case missingMessageEnd = "missing-me"
    case typeNotAllowed = "type-not-allowed"

    static func options(_ leniencies: [Leniency]) -> NDEFDecodingOptions {
        NDEFDecodingOptions(
            allowsTrailingData: leniencies.contains(.trailingData),
            allowsEmptyInput: leniencies.contains(.emptyInput),
            allowsMissingMessageBegin: leniencies.contains(.missingMessageBegin),
            allowsMissingMessageEnd: leniencies.contains(.missingMessageEnd),
            allowsTypeOnUnknown: leniencies.contains(.typeNotAllowed)
        )
    }
}

/// Why a line of input means nothing.
struct InputError: Error {
    /// The error's name.
    var name: String
    /// The character of the line, or the index of the record, where the fault lies.
    var offset: Int
    /// What is wrong, as a sentence.
    var message: String
}
