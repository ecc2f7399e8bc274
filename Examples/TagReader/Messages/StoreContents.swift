// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the file of the saved messages holds.
struct StoreContents: Codable {
    /// The version of the files that this app writes.
    static let currentVersion = 1
    /// The largest number that a message may have: every program that reads JSON has it exactly, and counting never
    /// leaves the range of a number here.
    private static let largestNumber = 1 << 53

    var version = Self.currentVersion
    /// The largest number that a message ever had.
    private(set) var last: Int?
    var messages: [StoredMessage] = []

    /// What is the same in the files of all versions.
    struct Head: Decodable {
        var version: Int
    }

    /// Creates the contents of a store without messages.
    init() {}

    /// Reads a file of this version.
    ///
    /// Numbers grow, also in a file of an earlier app, which had none.
    ///
    /// - Returns: nil when it is damaged; a file with numbers that no app gives is.
    init?(_ data: Data) {
        guard var contents = try? JSONDecoder().decode(StoreContents.self, from: data) else { return nil }
        var number = 0
        for index in contents.messages.indices {
            number = max(number + 1, contents.messages[index].number)
            guard number <= Self.largestNumber else { return nil }
            contents.messages[index].number = number
        }
        number = max(contents.last ?? 0, number)
        guard number <= Self.largestNumber else { return nil }
        contents.last = number
        self = contents
    }

    /// Adds a message at the end. It keeps the number that it has, unless another message had that or a larger one.
    ///
    /// - Returns: its number; nil when all numbers are used.
    mutating func append(_ message: StoredMessage) -> Int? {
        let number = max((last ?? 0) + 1, message.number)
        guard number <= Self.largestNumber else { return nil }
        var message = message
        message.number = number
        message.isSaved = true
        messages.append(message)
        last = number
        return number
    }
}
