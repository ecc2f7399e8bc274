// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AppConfiguration {
    /// Reads the configuration of an app.
    ///
    /// `NFC_INFO_PLIST` and `NFC_ENTITLEMENTS` name the files; without them an `Info.plist` beside the executable or in
    /// its bundle is taken, and a file with the executable's name and the extension `entitlements` beside it.
    /// `NFC_STRICT=1` makes it strict.
    ///
    /// - Parameters:
    ///   - environment: the variables of the process.
    ///   - executable: the path of the executable.
    package init(environment: [String: String], executable: String) {
        let program = URL(fileURLWithPath: executable)
        let directory = program.deletingLastPathComponent()
        let name = program.deletingPathExtension().lastPathComponent
        self.init(
            infoPlist: Self.file(
                named: environment["NFC_INFO_PLIST"],
                or: [
                    directory.appendingPathComponent("Info.plist"),
                    directory.appendingPathComponent("\(name).resources/Info.plist"),
                    directory.deletingLastPathComponent().appendingPathComponent("Info.plist"),
                ]
            ),
            entitlements: Self.file(
                named: environment["NFC_ENTITLEMENTS"],
                or: [
                    directory.appendingPathComponent("\(name).entitlements"),
                    directory.appendingPathComponent("\(name).resources/\(name).entitlements"),
                ]
            ),
            isStrict: environment["NFC_STRICT"] == "1"
        )
    }

    /// Reads the file that was named, or the first of the candidates that is a property list.
    private static func file(named path: String?, or candidates: [URL]) -> PropertyFile? {
        if let path, !path.isEmpty {
            // A file that was named and can't be read is one without entries: its absence would go unnoticed.
            let url = URL(fileURLWithPath: path)
            return PropertyFile(path: path, values: (try? Data(contentsOf: url)).flatMap { parse($0) } ?? [:])
        }
        for url in candidates {
            guard let data = try? Data(contentsOf: url), let values = parse(data) else { continue }
            return PropertyFile(path: url.path, values: values)
        }
        return nil
    }

    /// Reads the strings and lists of strings of a property list; nil when it is not one.
    package static func parse(_ data: Data) -> [String: [String]]? {
        guard let list = try? unsafe PropertyListSerialization.propertyList(from: data, options: [], format: nil),
            let dictionary = list as? [String: Any]
        else { return nil }
        return dictionary.compactMapValues { value in
            switch value {
            case let text as String: [text]
            case let texts as [String]: texts
            case let flag as Bool: flag ? ["true"] : []
            default: nil
            }
        }
    }
}
