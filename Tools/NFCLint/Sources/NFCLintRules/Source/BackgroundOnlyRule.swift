// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let backgroundOnly = Rule(
        id: "SRC019",
        severity: .warning,
        title: "The app reads tags only in the background",
        why: """
            Background reading needs an iPhone XS or later, and is off while the camera or Wallet is in use. On older \
            phones, people have no way to scan.
            """,
        fix: "Offer a reader session in the app as well.",
        bad: [
            .swift(
                """
                func handle(_ activity: NSUserActivity) {
                    show(activity.ndefMessagePayload.records)
                }
                """
            )
        ],
        good: [
            .scanning(
                """
                func handle(_ activity: NSUserActivity) { show(activity.ndefMessagePayload.records) }
                """
            )
        ],
        check: { unit, findings in
            guard unit.isApp || unit.target.kind == .library, unit.sessions.creations.isEmpty else { return }
            guard let (number, _) = unit.ownFunctions.first(where: { $0.function.names.contains("ndefMessagePayload") })
            else { return }
            findings.add(
                unit.place(number),
                "The app reads tags in the background, but has no session to read them while it is open."
            )
        }
    )
}
