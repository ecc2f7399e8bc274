// SPDX-License-Identifier: Apache-2.0

/// The files of a small project that illustrates a rule. Examples are the rule's tests and appear on its page.
public struct Example: Sendable {
    /// The paths and contents of the files.
    public var files: [(path: String, text: String)]

    /// Creates an example from files.
    public init(_ files: [(path: String, text: String)]) { self.files = files }

    /// Creates one Swift file. `import CoreNFC` is added at the top.
    public static func swift(_ text: String, _ name: String = "Reader.swift") -> Example {
        Example([(name, "import CoreNFC\n\n" + text + "\n")])
    }

    /// Creates an app's `Info.plist` with the given keys.
    public static func plist(_ keys: String) -> Example { Example([("Info.plist", propertyList(keys))]) }

    /// Creates an app's entitlements with the given keys.
    public static func entitlements(_ keys: String) -> Example {
        Example([("App.entitlements", propertyList(keys))])
    }

    /// Creates an XcodeGen project of an app with this minimum iOS version, `Info.plist` and `App.entitlements`.
    public static func minimum(_ version: String, type: String = "application") -> Example {
        let text = """
            name: App
            targets:
              App:
                type: \(type)
                platform: iOS
                deploymentTarget: "\(version)"
                sources: [.]
                info:
                  path: Info.plist
                entitlements:
                  path: App.entitlements
            """
        return Example([("project.yml", text + "\n")])
    }

    /// Creates any other file.
    public static func file(_ path: String, _ text: String) -> Example { Example([(path, text + "\n")]) }

    /// Combines the files of two examples.
    public static func + (left: Example, right: Example) -> Example { Example(left.files + right.files) }

    private static func propertyList(_ keys: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict>
        \(keys)
        </dict>
        </plist>

        """
    }
}
