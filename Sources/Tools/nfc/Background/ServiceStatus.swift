// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the service reports of itself.
struct ServiceStatus: Decodable {
    struct Condition: Decodable {
        var condition: String
        var met: Bool
        var source: String
    }

    var reading: Bool
    var locked: Bool
    /// Whether logind does not answer; nil of an earlier version.
    var silentLogin: Bool?
    /// The screen savers that do not answer; nil of an earlier version.
    var silentSavers: [String]?
    var waiting: Int
    var conditions: [Condition]
    /// Why nothing that is read is kept, as a sentence; nil when it is.
    var inboxProblem: String?

    private enum CodingKeys: String, CodingKey {
        case reading, locked, waiting, conditions
        case silentLogin = "silent_login"
        case silentSavers = "silent_savers"
        case inboxProblem = "inbox_problem"
    }

    /// A longer answer is not the service's.
    private static let maximumSize = 1 << 20

    /// Reads the service's answer; nil when it can't be read.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumSize,
            let status = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)), status.waiting >= 0
        else {
            return nil
        }
        self = status
    }

    /// Those who do not answer whether the screen is locked, by name.
    var silent: [String] { (silentLogin == true ? ["logind"] : []) + (silentSavers ?? []) }

    /// What is said of the reader.
    var reader: Condition? { conditions.first { $0.condition == "reader" } }

    var hasReader: Bool { reader?.met ?? true }
}
