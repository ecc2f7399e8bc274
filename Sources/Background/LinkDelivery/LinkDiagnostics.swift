// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Glibc
import LinuxSupport
import UserBus

/// Checks everything that background reading needs on a desktop: the bus, notifications, the screen lock, the apps for
/// each scheme, the installed apps and their association files. The checks block. They change nothing, but may start
/// the program that shows notifications.
package struct LinkDiagnostics: Sendable {
    private let environment: [String: String]
    private let deliverer: LinkDeliverer
    private let now: Int64

    /// Creates diagnostics without performing the checks.
    ///
    /// - Parameter now: the seconds since 1970.
    package init(environment: [String: String], now: Int64) {
        self.environment = environment
        self.now = now
        deliverer = LinkDeliverer(environment: environment)
    }

    /// The findings, at least one for each check. Reading this property performs the checks.
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
            let fix = "Install an app for it, then run: xdg-mime default NAME.desktop x-scheme-handler/\(scheme)"
            let listed = deliverer.desktopEntries.handlers(of: scheme).first
            let text = listed.map { "\($0.entry.name) can't be started (\($0.path))." } ?? "No app opens it."
            guard ["https", "http"].contains(scheme) else {
                return Finding("scheme", of: scheme, .limited, text, fix: fix)
            }
            guard let tool = deliverer.browserTool else { return Finding("scheme", of: scheme, .fails, text, fix: fix) }
            return Finding("scheme", of: scheme, .limited, "\(text) \(tool) may still open it.", fix: fix)
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
            ? [Finding("app", .works, "No app is installed, so each link opens in the program for its scheme.")]
            : findings
    }

    private func associationFindings(_ apps: InstalledApps) -> [Finding] {
        let domains = apps.domains
        guard !domains.isEmpty else { return [] }
        do throws(StorageError) {
            let cache = try LinkCache(of: deliverer.folders)
            return domains.map { association($0, cache.association(of: $0)) }
        } catch {
            return [Finding("association", .fails, error.reason, fix: "Make sure that the folder belongs to the user.")]
        }
    }

    private func association(_ domain: String, _ entry: CachedAssociation?) -> Finding {
        let fix = "nfc links fetch --force \(domain)"
        guard let entry, entry.file != nil else {
            let reason = entry?.failure.map { " The last try failed: \($0)" } ?? ""
            return Finding(
                "association",
                of: domain,
                .fails,
                "The association file is missing, so links open in the browser.\(reason)",
                fix: fix
            )
        }
        guard !entry.isLocal else {
            let text = "A local file is used in developer mode; the site is not asked."
            return Finding("association", of: domain, .limited, text, fix: "nfc links remove \(domain)")
        }
        let age = entry.answered.map { ageText(seconds: now - $0) } ?? "at an unknown time"
        guard let failure = entry.failure else {
            return Finding("association", of: domain, .works, "The site answered \(age).")
        }
        let text = "The site answered \(age); the last try failed: \(failure)"
        return Finding("association", of: domain, .limited, text, fix: fix)
    }

    // MARK: The user's bus

    var busFindings: [Finding] {
        do throws(BusError) {
            let bus = try BusConnection(.user, address: environment["DBUS_SESSION_BUS_ADDRESS"])
            return [Finding("bus", .works, "The user's bus answers."), notifications(bus), try lock(bus)]
        } catch {
            let fix: String? =
                switch error.code {
                case .libraryMissing: "Install libsystemd, for instance with: apt-get install libsystemd0"
                // The error's reason already explains what to check.
                case .silentBus: nil
                default: "Log in to a desktop, or run the programs in: dbus-run-session"
                }
            let text = error.code == .noBus ? "The user has no bus." : error.reason
            return [Finding("bus", .fails, text, fix: fix)]
        }
    }

    private func notifications(_ bus: BusConnection) -> Finding {
        let capabilities: Set<String>
        do throws(BusError) {
            let answer = try bus.ask(BusCall(.notifications, "GetCapabilities"), within: .seconds(10))
            capabilities = Set((answer.first?.values ?? []).compactMap(\.text))
        } catch {
            let text = "No program shows notifications: \(error.reason)"
            let fix = "Install a program that shows them, such as dunst, and list waiting links with: nfc inbox list"
            return Finding("notifications", .fails, text, fix: fix)
        }
        let server = (try? bus.ask(BusCall(.notifications, "GetServerInformation")))?.compactMap(\.text) ?? []
        let name = DisplayText.plain(server.first ?? "A program without a name", limit: 60)
        let list = DisplayText.plain(capabilities.sorted().joined(separator: ", "), limit: 200)
        guard capabilities.contains("actions") else {
            let text = "\(name) shows notifications, which can't be clicked (\(list))."
            let fix = "Open links with: nfc inbox open. Or use a program whose notifications have actions."
            return Finding("notifications", .limited, text, fix: fix)
        }
        let stay =
            capabilities.contains("persistence")
            ? "keeps them" : "does not keep them, so it is asked to show them until they are closed"
        let text = "\(name) shows notifications that can be clicked, and \(stay) (\(list))."
        return Finding("notifications", .works, text)
    }

    private func lock(_ bus: BusConnection) throws(BusError) -> Finding {
        var savers: [String] = []
        for saver in ScreenSaver.all where try bus.hasOwner(saver.object.destination) {
            savers.append(saver.object.destination)
        }
        let silent = try bus.screenSavers().silent
        guard silent.isEmpty else {
            return Finding(
                "lock",
                .limited,
                "\(silent.joined(separator: ", ")) does not answer, so the screen counts as locked.",
                fix: "Lock the screen and unlock it. If that does not help, restart the screen saver."
            )
        }
        let login = LoginReport.ask(of: geteuid(), own: environment["XDG_SESSION_ID"])
        guard !login.isSilent else {
            let text = "logind does not answer, so the screen counts as locked."
            let fix = "Check it with: systemctl status systemd-logind"
            return Finding("lock", .limited, text, fix: fix)
        }
        let prompt =
            savers.isEmpty
            ? "no screen saver can prompt for the password" : "\(savers.joined(separator: ", ")) prompts"
        if let session = login.session {
            return Finding("lock", .works, "logind reports the lock of session \(session.id); \(prompt).")
        }
        guard savers.isEmpty else {
            return Finding("lock", .works, "\(savers.joined(separator: ", ")) reports the lock, and prompts.")
        }
        let text = "No program reports whether the screen is locked, so links also open on a locked screen."
        let fix = "Log in with a session that logind manages, or run a screen saver that is on the bus."
        return Finding("lock", .limited, text, fix: fix)
    }
}

/// The result of one check of what background reading needs.
package struct Finding: Sendable, Hashable {
    package enum State: String, Sendable, Hashable {
        case works
        /// It works partly, or something that only some people need is missing.
        case limited
        /// It does not work, which limits background reading.
        case fails
    }

    /// The name of the check for programs, such as `bus` or `scheme`.
    package var check: String
    /// The scheme, domain or file that was checked, if there are several.
    package var subject: String?
    package var state: State
    package var text: String
    /// What to do, if anything.
    package var fix: String?

    package init(_ check: String, of subject: String? = nil, _ state: State, _ text: String, fix: String? = nil) {
        self.check = check
        self.subject = subject
        self.state = state
        self.text = text
        self.fix = fix
    }
}

/// Describes an age in words, such as "5 minutes ago".
package func ageText(seconds: Int64) -> String {
    switch seconds {
    case ..<0: "in the future"
    case ..<120: "just now"
    case ..<7200: "\(seconds / 60) minutes ago"
    case ..<172_800: "\(seconds / 3600) hours ago"
    default: "\(seconds / 86400) days ago"
    }
}

/// Describes a length of time in words, rounded up, such as "5 minutes".
package func durationText(seconds: Int64) -> String {
    let minutes = (seconds + 59) / 60
    switch seconds {
    case ...60: return "a minute"
    case ...7200: return "\(minutes) minutes"
    default: return "\((minutes + 59) / 60) hours"
    }
}
