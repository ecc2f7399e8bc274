// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinkDelivery
import VisibleText

extension Service {
    /// The state of the service as a JSON object, for `nfc background status`.
    var statusText: String {
        let surroundings = reading.surroundings
        let all = surroundings.findings
        let findings = all.map { finding in
            """
            {"condition":\(JSONText.quoted(finding.name)),"met":\(finding.isMet),\
            "source":\(JSONText.quoted(finding.source))}
            """
        }
        return """
            {"reading":\(surroundings.conditions.allowReading),"locked":\(surroundings.isLocked),"silent_login":\(surroundings.isLoginSilent),"silent_savers":[\(surroundings.silentSavers.map(JSONText.quoted).joined(separator: ","))],\
            "waiting":\(reading.hasBegun ? loop.machine.keptEntries.count : inbox.identifiers.count),"reader":\(JSONText.quoted(all.first?.source ?? "")),\
            "inbox_problem":\(inbox.keepingProblem.map(JSONText.quoted) ?? "null"),\
            "allows_custom_schemes":\(options.allowsCustomSchemes),\
            "conditions":[\(findings.joined(separator: ","))]}
            """
    }
}

extension BackgroundReader.Note {
    /// One word for programs.
    var event: String {
        switch self {
        case .notEligible: "not-eligible"
        case .noMessage: "no-message"
        case .badMessage: "bad-message"
        case .noLink: "no-link"
        case .unusableLink: "unusable-link"
        case .refused: "refused"
        case .tooManyArrivals: "too-many"
        case .turnedAway: "turned-away"
        case .notKept: "not-kept"
        case .kept: "kept"
        case .nothingToOpen: "nothing-to-open"
        case .notDelivered: "stays"
        case .forgotten: "forgotten"
        }
    }

    /// A sentence for people.
    var text: String {
        switch self {
        case .notEligible(let obstacles):
            "A tag was read and left alone. \(obstacles.map(\.reason).joined(separator: " "))"
        case .noMessage: "A tag has no message."
        case .badMessage: "A tag's message is damaged, or too large."
        case .noLink: "A tag's message has no link."
        case .unusableLink: "A tag's link can't be read."
        case .refused(let refusal): "A tag's link is not offered. \(refusal.reason)"
        case .tooManyArrivals: "Too many tags come. The next ones are refused for a moment."
        case .turnedAway(let count): "\(count) \(count == 1 ? "arrival was" : "arrivals were") refused."
        case .notKept: "The inbox can't save an entry. It is still offered, and is saved when the disk allows it."
        case .kept: "The inbox has saved the entry that it could not save before."
        case .nothingToOpen: "An entry has nothing that can be opened now."
        case .notDelivered: "The entry stays in the inbox."
        case .forgotten: "The inbox is full; the oldest entry is gone."
        }
    }
}
