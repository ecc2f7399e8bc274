// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import UserBus

/// Opens URIs with the desktop's default apps, such as the browser.
extension LinkDeliverer {
    func openWithDesktop(_ uri: String, for scheme: LinkScheme, _ token: String?) throws(DeliveryError) -> Receipt {
        // Map apps accept a location, but not a link to a web page with that location.
        let location = scheme == .map ? MapLocation(uri)?.uri : nil
        return try openWithDesktop(location ?? uri, scheme: scheme.rawValue, token)
    }

    /// Opens a URI with the default app for its scheme. If there is no such app, uses the desktop's own tools.
    func openWithDesktop(_ uri: String, scheme: String, _ token: String?) throws(DeliveryError) -> Receipt {
        var problem: DeliveryError?
        var takesNoLink: DeliveryError?
        for app in desktopEntries.handlers(of: scheme) {
            do throws(DeliveryError) {
                try open(uri, with: app, token)
                return Receipt(app: app.name, hasMessage: false)
            } catch  where [.notStarted, .takesNoLink].contains(error.code) {
                problem = problem ?? error
                takesNoLink = takesNoLink ?? (error.code == .takesNoLink ? error : nil)
            }
        }
        // The desktop's own tools would start the same app without the link, and report success.
        if let takesNoLink { throw takesNoLink }
        for words in [["gio", "open"], ["xdg-open"]] {
            guard let path = program(words[0]) else { continue }
            let program = try launch(path, words + [uri], app: words[0], folder: nil, environment: environment)
            do throws(DeliveryError) {
                try check(program, words[0])
                return Receipt(app: nil, hasMessage: false)
            } catch {
                problem = problem ?? DeliveryError(.noHandler, Self.noHandler(scheme))
            }
        }
        if let bus = try bus(isNeeded: false) {
            do throws(BusError) {
                try bus.openWithPortal(uri, limit: limit)
                return Receipt(app: nil, hasMessage: false)
            } catch {
                // Most systems lack a portal, so the first problem is reported instead.
            }
        }
        throw problem ?? DeliveryError(.noHandler, Self.noHandler(scheme))
    }

    private static func noHandler(_ scheme: String) -> String {
        """
        No app on this system opens \(scheme): links. Install one, and make it the default with: \
        xdg-mime default NAME.desktop x-scheme-handler/\(scheme)
        """
    }

    /// Returns the desktop's first app that can be started for a scheme. The scheme must be in lower case.
    package func opener(of scheme: String) -> DesktopEntries.Found? { openers(of: [scheme])[scheme] }

    private func openers(of schemes: [String]) -> [String: DesktopEntries.Found] {
        desktopEntries.handlers(of: schemes).compactMapValues { handlers in
            handlers.first { found in
                found.entry.isBusActivated || (try? command(of: found, isGivenURI: true)) != nil
            }
        }
    }

    /// The browsers that `xdg-open` tries when there is a display and no desktop entry is set.
    private static let browsers = [
        "x-www-browser", "firefox", "chromium", "chromium-browser", "google-chrome", "epiphany", "konqueror",
    ]

    /// Opens links in the browser of Windows, which has its own display.
    private static let windowsBrowser = "wslview"

    /// The desktop's own tool that may open web links without a desktop entry; nil when there is no such tool.
    ///
    /// The system's `xdg-open` opens a link if it finds a browser. If another `xdg-open` comes first in the user's
    /// `PATH`, that tool may open anything. `gio` only uses desktop entries.
    var browserTool: String? {
        let tool = "xdg-open"
        guard let path = program(tool) else { return nil }
        return ["/usr/bin/\(tool)", "/bin/\(tool)"].contains(path) && !hasBrowser ? nil : tool
    }

    /// Whether the system's `xdg-open` finds a browser: one from `BROWSER`, or one that it tries by itself and that can
    /// show its pages.
    var hasBrowser: Bool {
        let configuredNames = (environment["BROWSER"] ?? "").split(separator: ":")
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
        let usualNames = [Self.windowsBrowser] + (hasDisplay ? Self.browsers : [])
        return (configuredNames + usualNames).contains { program($0) != nil }
    }

    /// What this desktop can open, among the schemes of `LinkScheme` and web links.
    struct Openers {
        var unopenedSchemes: Set<LinkScheme>
        var schemesWithoutBrowser: Set<String>
        var browserNames: [String: String]
    }

    var openers: Openers {
        let web = ["http", "https"]
        let openers = openers(of: LinkScheme.allCases.map(\.rawValue) + web)
        let names = openers.filter { web.contains($0.key) }.mapValues(\.entry.name)
        let lacksBrowser = names.count < web.count && browserTool == nil
        return Openers(
            unopenedSchemes: Set(LinkScheme.allCases.filter { openers[$0.rawValue] == nil }),
            schemesWithoutBrowser: lacksBrowser ? Set(web.filter { names[$0] == nil }) : [],
            browserNames: names
        )
    }
}
