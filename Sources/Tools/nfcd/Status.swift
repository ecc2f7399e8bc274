// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinkDelivery
import TextSafety

extension Service {
    /// The state of the service as a JSON object, for `nfc background status`.
    var statusText: String {
        let surroundings = reading.surroundings
        let all = surroundings.findings
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("reading", surroundings.conditions.allowReading)
        writer.member("locked", surroundings.isLocked)
        writer.member("silent_login", surroundings.isLoginSilent)
        writer.key("silent_savers")
        writer.values(Array(surroundings.silentSavers))
        writer.member("waiting", reading.hasBegun ? loop.machine.keptEntries.count : inbox.identifiers.count)
        writer.member("reader", all.first?.source ?? "")
        writer.member("inbox_problem", inbox.keepingProblem)
        writer.member("allows_custom_schemes", options.allowsCustomSchemes)
        writer.key("conditions")
        writer.beginArray()
        for finding in all {
            writer.beginObject()
            writer.member("condition", finding.name)
            writer.member("met", finding.isMet)
            writer.member("source", finding.source)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.text, as: UTF8.self)
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
