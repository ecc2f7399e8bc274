// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

/// The rules about the contents of tags.
extension Rule {
    static let missingURIRecord = tag(
        "TAG001",
        .error,
        title: "The tag has no URI record",
        why: "Background reading uses the first well-known URI record. Without one, nothing happens.",
        fix: "Put a URI record with the universal link on the tag.",
        bad: [.file("scan.ndef", "d101085402656e48656c6c6f")]
    )

    static let linkNotFirst = tag(
        "TAG002",
        .error,
        title: "Another URI record comes before the universal link",
        why: "Only the first URI record is used.",
        fix: "Put the universal link first.",
        bad: [.file("scan.ndef", "91010d55052b313535353132333435363751011155046578616d706c652e6f72672f6d656e75")]
    )

    static let malformedURIRecord = tag(
        "TAG003",
        .error,
        title: "A URI record has no prefix code, or no URL",
        why: """
            The payload's first byte is a code for the URI's prefix. Without it the first letter is lost, and iOS \
            finds no usable data on the tag.
            """,
        fix: "Build the record with wellKnownTypeURIPayload(url:).",
        bad: [.file("scan.ndef", "d101135568747470733a2f2f6578616d706c652e6f7267")]
    )

    static let customScheme = tag(
        "TAG004",
        .error,
        title: "The tag has a custom scheme",
        why: "Background reading does not support custom schemes.",
        fix: "Use a universal link.",
        bad: [.file("scan.ndef", "d1010d55006d796170703a2f2f6d656e75")]
    )

    static let nothingForBackground = tag(
        "TAG005",
        .warning,
        title: "The tag has no record that iPhones read in the background",
        why: "iPhones ignore smart posters, Wi-Fi, contacts and text in the background.",
        fix: "Add a URI record with a universal link.",
        bad: [.file("scan.ndef", "d101085402656e48656c6c6f")]
    )

    static let missingCountryCode = tag(
        "TAG006",
        .info,
        title: "A telephone number has no country code",
        why: "In another country, the number reaches someone else, or no one.",
        fix: "Begin the number with + and the country code, without spaces.",
        bad: [.file("scan.ndef", "d10108550535353531323334")],
        good: [.file("scan.ndef", "d1010d55052b3135353531323334353637")]
    )

    static let linkNotHTTPS = tag(
        "TAG007",
        .info,
        title: "The link is not https",
        why: "http links open, but others can read and change what is sent.",
        fix: "Use https.",
        bad: [.file("scan.ndef", "d1011155036578616d706c652e6f72672f6d656e75")]
    )

    private static func tag(
        _ id: String,
        _ severity: Severity,
        title: String,
        why: String,
        fix: String,
        bad: [Example],
        good: [Example] = [.file("scan.ndef", "d1011155046578616d706c652e6f72672f6d656e75")]
    ) -> Rule {
        Rule(id: id, severity: severity, title: title, why: why, fix: fix, bad: bad, good: good) { unit, findings in
            TagChecks.check(id, unit, &findings)
        }
    }
}
