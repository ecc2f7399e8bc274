// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import UniversalLinks

/// A web link, whose target association files decide. It is parsed as the service parses a tag's link.
struct WebLink {
    /// The link as it is shown and passed on.
    let uri: TagURI
    /// The link as it is compared with rules.
    let url: LinkURL

    /// Parses a link.
    ///
    /// - Throws: ``CommandFailure`` that says what is wrong, and what nfcd does with such a link.
    init(_ text: String) throws(CommandFailure) {
        guard let uri = TagURI(text) else { throw Self.failure(Self.fault(of: text)) }
        guard uri.host != nil else { throw Self.failure(Self.way(of: uri)) }
        do throws(LinkURL.Problem) {
            url = try LinkURL(uri.text)
        } catch {
            throw Self.failure(error.description)
        }
        self.uri = uri
    }

    /// Why no association file can decide where the link goes; nil when one can.
    var obstacle: String? {
        if LinkScheme(uri) == .map {
            return "Pages of maps.apple.com open in the maps app or the browser, and in no other app."
        }
        do throws(HostName.DomainProblem) {
            _ = try HostName.domain(url.host)
            return nil
        } catch {
            // Such a host can't be an associated domain, but a wildcard covers it.
            if error == .notAName { return nil }
            return "No app can have \(url.host) as an associated domain: it \(error.description)"
        }
    }

    private static func failure(_ reason: String) -> CommandFailure { CommandFailure(.refused, "no-link", reason) }

    private static let noScheme = "The link has no scheme. Write https:// before it."

    /// The fault of a text that the service can't read as a link.
    private static func fault(of text: String) -> String {
        guard text.contains(":") else { return noScheme }
        let start = text.lowercased()
        for scheme in ["http:", "https:"] where start.hasPrefix(scheme) && !start.hasPrefix(scheme + "//") {
            return "The link has no // after \(scheme) A web link begins with \(scheme)//"
        }
        do throws(LinkURL.Problem) {
            _ = try LinkURL(text)
        } catch {
            return error.description
        }
        return "The link's host or port is invalid, or programs could read it as another one."
    }

    /// What the service does with a link that is not a web link.
    private static func way(of uri: TagURI) -> String {
        // A host before a port looks like a scheme.
        if uri.scheme.contains(".") { return noScheme }
        guard let scheme = LinkScheme(uri) else { return LinkRoute.Refusal.customScheme.reason }
        guard SystemLink(uri) != nil else {
            return "The link has no target, so nfcd treats a tag with it as a tag without usable data."
        }
        return
            "No association file decides where the link goes. The desktop's app for \(scheme.rawValue): links opens it."
    }
}

extension LinkRoute {
    /// Where a link goes, for programs: an app's identifier, `browser`, or the scheme; nil for nowhere.
    var target: String? {
        switch self {
        case .app(let app, _), .customScheme(let app): app.id
        case .browser: "browser"
        case .system(let scheme): scheme.rawValue
        case .refused: nil
        }
    }
}
