// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The status that the service reports.
struct ServiceStatus: Decodable {
    struct Condition: Decodable {
        var condition: String
        var met: Bool
        var source: String
    }

    var reading: Bool
    var locked: Bool
    /// Whether logind does not answer; nil from an earlier version of the service.
    var silentLogin: Bool?
    /// The screen savers that do not answer; nil from an earlier version of the service.
    var silentSavers: [String]?
    var waiting: Int
    var conditions: [Condition]
    /// Why the service can't save what it reads, as a sentence; nil when it can.
    var inboxProblem: String?

    private enum CodingKeys: String, CodingKey {
        case reading, locked, waiting, conditions
        case silentLogin = "silent_login"
        case silentSavers = "silent_savers"
        case inboxProblem = "inbox_problem"
    }

    /// The longest answer that is read.
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

    /// The programs, by name, that do not report whether the screen is locked.
    var silent: [String] { (silentLogin == true ? ["logind"] : []) + (silentSavers ?? []) }

    /// The condition of the reader.
    var reader: Condition? { conditions.first { $0.condition == "reader" } }

    var hasReader: Bool { reader?.met ?? true }
}
