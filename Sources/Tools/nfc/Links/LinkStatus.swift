// SPDX-License-Identifier: Apache-2.0
import LinkDelivery
import TextSafety

/// The status of a domain's association file, as text and as JSON.
struct LinkStatus {
    let domain: String
    /// The saved answer; nil when the site was never asked.
    let known: CachedAssociation?
    private let now: Int64
    /// Whether the site was asked just now, by this command.
    private let wasAsked: Bool

    /// - Parameters:
    ///   - domain: the domain.
    ///   - known: the saved answer; nil when the site was never asked.
    ///   - now: the seconds since 1970.
    ///   - wasAsked: whether the site was asked just now, by this command.
    init(_ domain: String, _ known: CachedAssociation?, now: Int64, wasAsked: Bool = false) {
        self.domain = domain
        self.known = known
        self.now = now
        self.wasAsked = wasAsked
    }

    /// Where the file came from; nil when there is none.
    var source: AssociationFileOptions.Source? {
        guard let known, known.file != nil else { return nil }
        return known.isLocal ? .local : .site
    }

    /// A line for people.
    var text: String {
        guard let known else { return "\(domain)  no file; to get it: nfc links fetch" }
        let size = known.file.map { "\($0.count) bytes" } ?? "no file"
        guard !known.isLocal else {
            return "\(domain)  \(size), a local file (developer mode; to remove it: nfc links remove \(domain))"
        }
        let age = known.answered.map { ", the site answered \(ageText(seconds: now - $0))" } ?? ""
        guard let failure = known.failure else { return "\(domain)  \(size)\(age)" }
        let tried =
            wasAsked
            ? "the try just now failed" : "the last try, \(ageText(seconds: now - known.asked)), failed"
        return "\(domain)  \(size)\(age); \(tried): \(failure) \(nextTryText(known))"
    }

    private func nextTryText(_ known: CachedAssociation) -> String {
        guard let next = known.nextTry(at: now) else { return "" }
        let when = next <= now ? "now" : "in \(durationText(seconds: next - now))"
        return "The next try is due \(when). To try at once: nfc links fetch \(domain) --force"
    }

    /// Writes the members of an object.
    func write(to writer: inout JSONWriter) {
        writer.member("domain", domain)
        writer.member("source", source?.rawValue)
        writer.member("size", known?.file?.count)
        writer.member("age_s", known?.answered.map { Int(now - $0) })
        writer.member("next_try_s", known?.nextTry(at: now).map { Int(max(0, $0 - now)) })
        let parts = known?.failureParts
        writer.member("error", parts?.code)
        writer.member("message", parts?.reason)
    }
}
