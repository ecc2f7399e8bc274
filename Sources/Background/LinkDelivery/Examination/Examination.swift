// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinuxSupport

/// Checks everything that background reading needs on a desktop: the bus, notifications, the screen lock, the apps for
/// each scheme, the installed apps and their association files. It blocks, and changes nothing, but it may start the
/// program that shows notifications.
package struct LinkDiagnostics: Sendable {
    let environment: [String: String]
    private let deliverer: LinkDeliverer
    private let now: Int64

    /// Creates an examination, without checking anything.
    ///
    /// - Parameters:
    ///   - environment: the variables of the process.
    ///   - now: the seconds since 1970.
    package init(environment: [String: String], now: Int64) {
        self.environment = environment
        self.now = now
        deliverer = LinkDeliverer(environment: environment)
    }

    /// The findings; at least one for each check. Reading this property performs the checks.
    package var findings: [Finding] {
        let apps = InstalledApps(deliverer.folders)
        return busFindings + schemeFindings + appFindings(apps) + associationFindings(apps)
    }

    // MARK: Apps for each scheme

    private var schemeFindings: [Finding] {
        let schemes = ["https", "http"] + LinkScheme.allCases.map(\.rawValue)
        return schemes.map { scheme in
            if let found = deliverer.opener(of: scheme) {
                return Finding("scheme", of: scheme, .works, "\(found.entry.name) opens it (\(found.path)).")
            }
            let fix = "Install an app for it, and: xdg-mime default NAME.desktop x-scheme-handler/\(scheme)"
            let listed = deliverer.desktopEntries.handlers(of: scheme).first
            let text = listed.map { "\($0.entry.name) can't be started (\($0.path))." } ?? "No app opens it."
            guard ["https", "http"].contains(scheme) else {
                return Finding("scheme", of: scheme, .limited, text, fix: fix)
            }
            guard let tool = deliverer.browserTool else {
                return Finding("scheme", of: scheme, .fails, text, fix: fix)
            }
            return Finding("scheme", of: scheme, .limited, "\(text) \(tool) is left to choose.", fix: fix)
        }
    }

    // MARK: Apps

    private func appFindings(_ apps: InstalledApps) -> [Finding] {
        var findings = apps.problems.map { problem in
            Finding("app", of: problem.path, .fails, problem.reason, fix: "Correct the file; see: nfc apps --help")
        }
        for app in apps.apps {
            do throws(DeliveryError) {
                _ = try deliverer.way(to: app)
                findings.append(Finding("app", of: app.id, .works, "\(app.name) can be started."))
            } catch {
                findings.append(Finding("app", of: app.id, .fails, error.reason, fix: "Install it again."))
            }
        }
        return findings.isEmpty
            ? [Finding("app", .works, "No app is installed: links open in the browser.")] : findings
    }

    private func associationFindings(_ apps: InstalledApps) -> [Finding] {
        var domains: [String] = []
        for domain in apps.apps.flatMap(\.linkedDomains) where !domains.contains(domain) { domains.append(domain) }
        guard !domains.isEmpty else { return [] }
        do throws(StorageError) {
            let cache = try LinkCache(of: deliverer.folders)
            return domains.map { association($0, cache.association(of: $0)) }
        } catch {
            return [Finding("association", .fails, error.reason, fix: "See that the folder is the user's own.")]
        }
    }

    private func association(_ domain: String, _ known: CachedAssociation?) -> Finding {
        let fix = "nfc links fetch --force \(domain)"
        guard let known, known.file != nil else {
            let reason = known?.failure.map { " The last try failed: \($0)" } ?? ""
            return Finding(
                "association",
                of: domain,
                .fails,
                "There is no association file, so links open in the browser.\(reason)",
                fix: fix
            )
        }
        guard !known.isLocal else {
            let text = "A local file is used in developer mode; the site is not asked."
            return Finding("association", of: domain, .limited, text, fix: "nfc links remove \(domain)")
        }
        let age = known.answered.map { ageText(seconds: now - $0) } ?? "at an unknown time"
        guard let failure = known.failure else {
            return Finding("association", of: domain, .works, "The site answered \(age).")
        }
        let text = "The site answered \(age); the last try failed: \(failure)"
        return Finding("association", of: domain, .limited, text, fix: fix)
    }
}
