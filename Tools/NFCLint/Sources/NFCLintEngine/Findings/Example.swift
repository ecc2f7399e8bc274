// SPDX-License-Identifier: Apache-2.0

/// The files of a small project that show a rule. They are its tests, and stand on its page.
public struct Example: Sendable {
    /// The files: path and text.
    public var files: [(path: String, text: String)]

    /// An example of files.
    public init(_ files: [(path: String, text: String)]) { self.files = files }

    /// One file with Swift code; `import CoreNFC` is put before it.
    public static func swift(_ text: String, _ name: String = "Reader.swift") -> Example {
        Example([(name, "import CoreNFC\n\n" + text + "\n")])
    }

    /// The `Info.plist` of an app, with the keys given.
    public static func plist(_ keys: String) -> Example { Example([("Info.plist", propertyList(keys))]) }

    /// The entitlements of an app, with the keys given.
    public static func entitlements(_ keys: String) -> Example {
        Example([("App.entitlements", propertyList(keys))])
    }

    /// A description for XcodeGen of an app with this minimum version of iOS, with `Info.plist` and `App.entitlements`.
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

    /// Any other file.
    public static func file(_ path: String, _ text: String) -> Example { Example([(path, text + "\n")]) }

    /// The files of both.
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
