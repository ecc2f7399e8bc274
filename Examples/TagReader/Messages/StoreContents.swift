// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The content of the file of saved messages.
struct StoreContents: Codable {
    /// The version of the format that this app writes.
    static let currentVersion = 1
    /// The largest number of a message. Every JSON reader can represent it exactly, and counting can't
    /// overflow.
    private static let largestNumber = 1 << 53

    var version = Self.currentVersion
    /// The largest number that a message ever had.
    private(set) var last: Int?
    var messages: [StoredMessage] = []

    /// The part that all versions have in common.
    struct Head: Decodable {
        var version: Int
    }

    /// Creates the contents of a store without messages.
    init() {}

    /// Reads a file of this version.
    ///
    /// Numbers increase. Messages from an earlier app, which had no numbers, get them here.
    ///
    /// - Returns: nil when the file is damaged, for example with impossible numbers.
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

    /// Adds a message at the end. It keeps its number, unless that number or a larger one was used before.
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
