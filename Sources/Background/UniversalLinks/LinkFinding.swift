// SPDX-License-Identifier: Apache-2.0

/// A problem in an association file or an app's associated domains, or a part whose effect differs from what one
/// expects.
public struct LinkFinding: Sendable, Hashable {
    /// How serious a finding is.
    public enum Severity: String, Sendable, Hashable {
        /// Links don't open the app, or open another one.
        case error
        /// A part has no effect, or another one than expected.
        case warning
        /// Useful to know.
        case information
    }

    /// The rule that found it, such as `AASA011`. Its meaning never changes.
    public let id: String
    /// How serious the finding is.
    public let severity: Severity
    /// Sentences that explain the problem and its position.
    public let message: String

    init(_ id: String, _ severity: Severity, _ message: String) {
        self.id = id
        self.severity = severity
        self.message = message
    }
}

extension AssociationFileError {
    /// The rule of ``LinkFinding`` that the file breaks.
    public var rule: String { code == .tooLarge ? "AASA002" : "AASA001" }

    /// The error as a finding.
    public var finding: LinkFinding { LinkFinding(rule, .error, reason) }
}

extension LinkFinding {
    private static let name = "apple-app-site-association"

    /// Returns the problem with the path of an association file.
    public static func ofName(_ path: String) -> [LinkFinding] {
        guard path.lowercased().hasSuffix(name + ".json") else { return [] }
        let text = "The file is served as \(name), without .json at its end."
        return [LinkFinding("AASA017", .error, text)]
    }

    /// Returns the problems with the URL at which an association file is served. Throws ``LinkURL/Problem`` when it is
    /// not the URL of a site.
    public static func ofPlace(_ url: String) throws(LinkURL.Problem) -> [LinkFinding] {
        let place = try LinkURL(url)
        var result = ofName(place.pathText)
        func add(_ text: String, _ severity: Severity = .error) {
            result.append(LinkFinding("AASA017", severity, text))
        }
        if !url.lowercased().hasPrefix("https:") { add("The file is served by http. It has to be served by https.") }
        // A folder of this name is not the file.
        let end = place.bytes[place.path.upperBound...].first == 0x2F ? "/" : ""
        switch place.pathText + end {
        case "/.well-known/\(name)": break
        case "/\(name)":
            add(
                "The file is at the root of the site, where not all devices look. Serve it at /.well-known/\(name).",
                .warning
            )
        default:
            if result.isEmpty { add("No device looks for the file there. Serve it at /.well-known/\(name).") }
        }
        return result
    }

    /// Returns the finding for an answer of a site without a usable file; nil when the answer breaks no rule of
    /// association files, for example when the site does not answer. The code is that of `nfc links fetch`.
    public static func ofAnswer(_ code: String, reason: String) -> LinkFinding? {
        switch code {
        case "bad-file": LinkFinding("AASA001", .error, reason)
        case "too-large": LinkFinding("AASA002", .error, reason)
        case "redirect": LinkFinding("AASA017", .error, "\(reason) Redirects are not followed.")
        default: nil
        }
    }
}
