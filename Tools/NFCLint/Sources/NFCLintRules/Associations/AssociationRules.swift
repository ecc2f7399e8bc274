// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

/// The rules about association files.
extension Rule {
    static let associationNotAnObject = association(
        "AASA001",
        .error,
        title: "The association file is not a JSON object",
        why: """
            If a device can't read the file, no link opens the app. Often a server sends an error page instead of the \
            file.
            """,
        fix: "Serve the JSON itself.",
        bad: [.association("<html></html>"), .association("[]")]
    )

    static let associationTooLarge = association(
        "AASA002",
        .error,
        title: "The association file is larger than 128 KB",
        why: "Devices reject larger files.",
        fix: "Replace long lists with wildcards.",
        bad: [Example.association("{\"applinks\": \"" + String(repeating: "a", count: 140_000) + "\"}")]
    )

    static let associationPartMissing = association(
        "AASA003",
        .error,
        title: "A part of the association file is missing or has the wrong type",
        why: "Devices ignore the parts that they can't read, so those links don't open the app.",
        fix: "Add applinks with details, an array of objects.",
        bad: [.association(#"{"webcredentials": {"apps": []}}"#), .association(#"{"applinks": {"details": "none"}}"#)]
    )

    static let associationEntryApps = association(
        "AASA004",
        .error,
        title: "An entry names no app, or one app twice",
        why: "An entry without appIDs applies to no app. If appIDs is present, appID is ignored.",
        fix: "List the apps in appIDs.",
        bad: [.association(#"{"applinks": {"details": [{"components": [{"/": "/menu/*"}]}]}}"#)]
    )

    static let associationAppIdentifier = association(
        "AASA005",
        .error,
        title: "An app identifier is invalid, or the app is missing",
        why: "An app identifier is the team's prefix, a full stop and the bundle ID.",
        fix: "Copy the identifier from the entitlements of the signed app.",
        bad: [.association(#"{"applinks": {"details": [{"appIDs": ["org"], "components": [{"/": "/menu/*"}]}]}}"#)]
    )

    static let componentsBesidePaths = association(
        "AASA006",
        .warning,
        title: "An entry has both components and paths",
        why: "Since iOS 13, paths is ignored if components is present.",
        fix: "Keep only components.",
        bad: [
            .association(
                """
                {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*"}], "paths": ["/menu/*"]}]}}
                """
            )
        ]
    )

    static let appsNotEmpty = association(
        "AASA007",
        .warning,
        title: "The apps array is not empty",
        why: "Before iOS 13, apps had to be an empty array. Later versions ignore it.",
        fix: "Leave apps empty, or remove it.",
        bad: [
            .association(
                """
                {"applinks": {"apps": ["ABCDE12345.org.example.app"], "details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*"}]}]}}
                """
            )
        ]
    )

    static let queryValueNotAString = association(
        "AASA008",
        .error,
        title: "A query value is not a string",
        why: "One such value invalidates the whole query dictionary, so the rule matches links that it should not.",
        fix: "Write each value as a string.",
        bad: [.components(#"{"/": "/menu/*", "?": {"table": 5}}"#)]
    )

    static let undefinedVariable = association(
        "AASA009",
        .error,
        title: "A variable is undefined or malformed",
        why: "A pattern with an undefined or malformed variable matches nothing.",
        fix: "Define the variable in substitutionVariables.",
        bad: [.components(#"{"/": "/menu/$(food)"}"#)]
    )

    static let variableWithoutEffect = association(
        "AASA010",
        .warning,
        title: "A variable has no effect, or hides a predefined one",
        why: "The variable is unused, has no values, or has the name of a predefined variable.",
        fix: "Remove the variable, or rename it.",
        bad: [
            .association(
                """
                {"applinks": {"substitutionVariables": {"food": ["soup"]}, "details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [{"/": "/menu/*"}]}]}}
                """
            )
        ]
    )

    static let unreachableRule = association(
        "AASA011",
        .warning,
        title: "A rule is never reached",
        why: "The first rule that matches applies. An earlier rule matches every link that this one would match.",
        fix: "Put the more specific rule first.",
        bad: [.components(#"{"/": "*"}, {"/": "/menu/*"}"#)]
    )

    static let queryInPath = association(
        "AASA012",
        .warning,
        title: "The path contains a query, a fragment or a URL",
        why: "The key / matches only the path, so this rule never matches.",
        fix: "Move the query to the key ?, and the fragment to the key #.",
        bad: [.components(#"{"/": "/menu?table=1"}"#)]
    )

    static let escapeThatNeverMatches = association(
        "AASA013",
        .warning,
        title: "Percent escapes in a pattern never match",
        why: "If percentEncoded is true, the pattern must be percent-encoded; if it is false, the pattern must not be.",
        fix: "Encode the pattern, or set percentEncoded to false.",
        bad: [.components(#"{"/": "/menü/*"}"#)]
    )

    static let unknownAssociationKey = association(
        "AASA014",
        .warning,
        title: "A key is unknown, or has the wrong case",
        why: "Keys are case-sensitive. Unknown keys are ignored.",
        fix: "Write the key exactly as documented.",
        bad: [.components(#"{"/": "/menu/*", "Exclude": true}"#)]
    )

    static let malformedNot = association(
        "AASA015",
        .warning,
        title: "NOT is written incorrectly",
        why: "In paths, NOT and one space exclude a path. In components, NOT is read as part of the path.",
        fix: "Use \"exclude\": true.",
        bad: [
            .association(
                """
                {"applinks": {"details": [{"appID": "ABCDE12345.org.example.app", "paths": ["NOT  /menu"]}]}}
                """
            )
        ]
    )

    static let tagLinkNotMatched = association(
        "AASA016",
        .error,
        title: "The link on a tag does not open the app",
        why: "No rule of the association file matches the link, or a rule excludes it.",
        fix: "Add a rule that matches the link.",
        bad: [Example.components() + Example.file("scan.ndef", "d1011055046578616d706c652e636f6d2f6e6663")],
        good: [
            Example.components(#"{"/": "/nfc"}"#)
                + Example.file("scan.ndef", "d1011055046578616d706c652e636f6d2f6e6663")
        ]
    )

    static let associationFileName = association(
        "AASA017",
        .error,
        title: "The association file has the wrong name or folder",
        why: """
            The file must be named apple-app-site-association, without .json, and be served over HTTPS from \
            /.well-known, without redirects.
            """,
        fix: "Rename the file.",
        bad: [.components(in: "apple-app-site-association.json")]
    )

    private static func association(
        _ id: String,
        _ severity: Severity,
        title: String,
        why: String,
        fix: String,
        bad: [Example],
        good: [Example] = [.components()]
    ) -> Rule {
        Rule(id: id, severity: severity, title: title, why: why, fix: fix, bad: bad, good: good) { unit, findings in
            LinkChecks.associations(id, unit, &findings)
        }
    }
}

extension Example {
    fileprivate static func association(_ text: String) -> Example { file("apple-app-site-association", text) }

    /// An association file with the rules of one app.
    fileprivate static func components(
        _ components: String = #"{"/": "/menu/*"}"#,
        in path: String = "apple-app-site-association"
    ) -> Example {
        file(
            path,
            """
            {"applinks": {"details": [{"appIDs": ["ABCDE12345.org.example.app"], "components": [\(components)]}]}}
            """
        )
    }
}
