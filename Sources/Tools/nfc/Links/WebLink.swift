// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import UniversalLinks

/// A link that association files decide, read as the service reads the link of a tag.
struct WebLink {
    /// The link as it is shown and handed on.
    let uri: TagURI
    /// The same, as it is compared with rules.
    let url: LinkURL

    /// Reads a link.
    ///
    /// - Throws: ``CommandFailure`` with what is wrong, and what nfcd does with such a link.
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

    /// Why no association file decides where the link goes, whatever the file says; nil when one does.
    var obstacle: String? {
        if LinkScheme(uri) == .map {
            return "Pages of maps.apple.com go to the app for maps, or to the browser, and to no other app."
        }
        do throws(HostName.DomainProblem) {
            _ = try HostName.domain(url.host)
            return nil
        } catch {
            return "No app can have \(url.host) as an associated domain: it \(error.description)"
        }
    }

    private static func failure(_ reason: String) -> CommandFailure { CommandFailure(.refused, "no-link", reason) }

    private static let noScheme = "The link has no scheme. Write https:// before it."

    /// What is wrong with a text that the service can't read as a link.
    private static func fault(of text: String) -> String {
        guard text.contains(":") else { return noScheme }
        let start = text.lowercased()
        for scheme in ["http:", "https:"] where start.hasPrefix(scheme) && !start.hasPrefix(scheme + "//") {
            return "The link has no // behind \(scheme) A web link begins with \(scheme)//"
        }
        do throws(LinkURL.Problem) {
            _ = try LinkURL(text)
        } catch {
            return error.description
        }
        return "The link's host or port can't be one, or programs could take it for another one."
    }

    /// What the service does with a link that is none of the web.
    private static func way(of uri: TagURI) -> String {
        // What stands before a port looks like a scheme.
        if uri.scheme.contains(".") { return noScheme }
        guard let scheme = LinkScheme(uri) else { return LinkRoute.Refusal.customScheme.reason }
        guard SystemLink(uri) != nil else {
            return "The link names nobody and nothing, so a tag that has it counts as one without usable data."
        }
        return
            "No association file decides where the link goes. The desktop's app for \(scheme.rawValue): links opens it."
    }
}

extension LinkRoute {
    /// Where a link goes, as programs read it: an app's identifier, `browser`, or the scheme; nil for nowhere.
    var target: String? {
        switch self {
        case .app(let app, _), .customScheme(let app): app.id
        case .browser: "browser"
        case .system(let scheme): scheme.rawValue
        case .refused: nil
        }
    }
}
