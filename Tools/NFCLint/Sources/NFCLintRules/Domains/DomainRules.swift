// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

/// The rules about associated domains.
extension Rule {
    static let missingDomains = domain(
        "DOM001",
        .error,
        title: "The app has no associated domains",
        why: """
            In background reading, a tag opens an app only by a universal link, and the app must list the link's \
            domain.
            """,
        fix: "Add com.apple.developer.associated-domains with applinks: and the domain of the link.",
        bad: [
            Example.usage + Example.tagFormat + Example.messageReader + Example.linkScene,
            Example.messageReader + Example.usage + Example.tagFormat
                + Example.file(
                    "AppDelegate.swift",
                    """
                    class AppDelegate: UIResponder, UIApplicationDelegate {
                        func application(_ application: UIApplication, continue activity: NSUserActivity, restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void) -> Bool {
                            activity.ndefMessagePayload.records.isEmpty
                        }
                    }
                    """
                ),
        ],
        good: [
            Example.app(domains: "applinks:example.org") + Example.linkScene,
            Example.usage + Example.tagFormat + Example.messageReader,
        ]
    )

    static let missingAppLinks = domain(
        "DOM002",
        .error,
        title: "No associated domain has the service applinks",
        why: "With other services, a link does not open the app.",
        fix: "Add an entry applinks: with the domain of the link.",
        bad: [Example.app(domains: "webcredentials:example.org") + Example.linkScene]
    )

    static let unknownDomainService = domain(
        "DOM003",
        .error,
        title: "An associated domain has no service, or an unknown one",
        why: "An entry is a service, a colon and a domain. Entries with another service have no effect.",
        fix: "Write applinks: before the domain.",
        bad: [
            Example.app(domains: "example.org", "applinks:example.org"),
            Example.app(domains: "applink:example.org"),
        ]
    )

    static let domainWithMore = domain(
        "DOM004",
        .error,
        title: "An associated domain contains more than a domain",
        why: "A scheme, path, port, space or user name makes the entry invalid.",
        fix: "Write only the domain.",
        bad: [
            Example.app(domains: "applinks:https://example.org/"),
            Example.app(domains: "applinks:example.org/menu"),
        ]
    )

    static let misplacedWildcard = domain(
        "DOM005",
        .error,
        title: "A wildcard is in the wrong place",
        why: "A wildcard must be \"*.\" at the beginning; appclips entries can't have one.",
        fix: "Write *. before the domain, or write the full domain.",
        bad: [Example.app(domains: "applinks:www.*.example.org"), Example.app(domains: "appclips:*.example.org")]
    )

    static let wildcardWithoutDomain = domain(
        "DOM006",
        .info,
        title: "A wildcard does not include the domain itself",
        why: "applinks:*.example.org matches only subdomains. A link to example.org does not open the app.",
        fix: "If links to the domain itself should open the app, add an entry for it.",
        bad: [Example.app(domains: "applinks:*.example.org") + Example.linkScene]
    )

    static let developerModeDomain = domain(
        "DOM007",
        .warning,
        title: "An associated domain is in developer mode",
        why: "Users' devices ignore entries with ?mode=developer.",
        fix: "Remove ?mode=developer from release builds.",
        bad: [Example.app(domains: "applinks:example.org?mode=developer") + Example.linkScene]
    )

    static let unknownDomainMode = domain(
        "DOM008",
        .error,
        title: "An associated domain has an unknown mode",
        why: "The modes are developer, managed and developer+managed. Any other mode makes the entry invalid.",
        fix: "Correct the mode, or remove it.",
        bad: [Example.app(domains: "applinks:example.org?mode=debug") + Example.linkScene]
    )

    static let tooManyDomains = domain(
        "DOM009",
        .warning,
        title: "There are too many associated domains, or repeated ones",
        why: "Systems read only the first 20 to 30 entries. A repeated entry has no effect.",
        fix: "Remove repeated and unused entries.",
        bad: [Example.app(domains: "applinks:example.org", "applinks:example.org") + Example.linkScene]
    )

    static let missingTagDomain = domain(
        "DOM010",
        .error,
        title: "No associated domain matches the link on a tag",
        why: "An entry must have the host of the link.",
        fix: "Add applinks: with the host of the link.",
        bad: [
            Example.file("scan.ndef", "d1011055046578616d706c652e636f6d2f6e6663")
                + Example.app(domains: "applinks:example.org")
                + Example.linkScene
        ],
        good: [
            Example.file("scan.ndef", "d1011055046578616d706c652e636f6d2f6e6663")
                + Example.app(domains: "applinks:example.com")
                + Example.linkScene
        ]
    )

    private static func domain(
        _ id: String,
        _ severity: Severity,
        title: String,
        why: String,
        fix: String,
        bad: [Example],
        good: [Example] = [Example.app(domains: "applinks:example.org") + Example.linkScene]
    ) -> Rule {
        Rule(id: id, severity: severity, title: title, why: why, fix: fix, bad: bad, good: good) { unit, findings in
            LinkChecks.domains(id, unit, &findings)
        }
    }
}

extension Example {
    /// An app that reads tags, with these associated domains.
    fileprivate static func app(domains: String...) -> Example { usage + tagFormatAndDomain(domains) + messageReader }
}
