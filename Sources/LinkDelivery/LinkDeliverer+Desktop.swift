// SPDX-License-Identifier: Apache-2.0
import BackgroundStorage
public import BackgroundTagReading
import UserBus

/// Opening URIs in the apps that the desktop has for them, such as the browser.
extension LinkDeliverer {
    /// Opens a URI of one of the schemes that the system knows.
    func openWithDesktop(_ uri: String, for scheme: LinkScheme, _ token: String?) throws(DeliveryError) -> Receipt {
        guard scheme == .map else { return try openWithDesktop(uri, scheme: scheme.rawValue, token) }
        // A place goes to an app for maps where there is one, and is a page of the web everywhere else.
        if let place = MapPlace(uri)?.uri, let app = desktopEntries.handlers(of: scheme.rawValue).first {
            try open(place, with: app, token)
            return Receipt(app: app.name, hasMessage: false)
        }
        return try openWithDesktop(uri, scheme: LinkScheme.scheme(of: uri), token)
    }

    /// Opens a URI in the default app of its scheme; where none is found, with the desktop's own tools.
    func openWithDesktop(_ uri: String, scheme: String, _ token: String?) throws(DeliveryError) -> Receipt {
        var problem: DeliveryError?
        for app in desktopEntries.handlers(of: scheme) {
            do throws(DeliveryError) {
                try open(uri, with: app, token)
                return Receipt(app: app.name, hasMessage: false)
            } catch  where error.code == .notStarted {
                problem = problem ?? error
            }
        }
        for words in [["gio", "open"], ["xdg-open"]] {
            guard let path = program(words[0]) else { continue }
            let program = try StartedProgram(path, words + [uri], folder: nil, environment: environment)
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
                // Most systems have none; what is told is what was wrong before.
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

    /// The schemes of the system's table that no app on this system has.
    public var unopenedSchemes: Set<LinkScheme> {
        // A place on a map is a page of the web too.
        let schemes = LinkScheme.allCases.filter { $0 != .map }
        let handled = desktopEntries.handled(schemes.map(\.rawValue))
        return Set(schemes.filter { !handled.contains($0.rawValue) })
    }
}

extension LinkScheme {
    /// The scheme of a URI that has one.
    static func scheme(of uri: String) -> String { String(uri.prefix { $0 != ":" }) }
}
