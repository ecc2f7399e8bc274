// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport

extension AppConfiguration {
    /// Reads the configuration of an app.
    ///
    /// `NFC_INFO_PLIST` and `NFC_ENTITLEMENTS` name the files. Without them, the files are an `Info.plist`, and a file
    /// with the executable's name and the extension `entitlements`. They are looked for beside the executable, in its
    /// bundle, and in the resources of the package's target that has the executable's name. `NFC_STRICT=1` makes the
    /// configuration strict.
    ///
    /// - Parameters:
    ///   - environment: the variables of the process.
    ///   - executable: the path of the executable.
    package init(environment: [String: String], executable: String) {
        let program = URL(fileURLWithPath: executable)
        let directory = program.deletingLastPathComponent()
        let name = program.deletingPathExtension().lastPathComponent
        let resources = Self.resources(of: name, in: directory)
        self.init(
            infoPlist: Self.file(
                named: environment["NFC_INFO_PLIST"],
                or: [directory.appendingPathComponent("Info.plist")]
                    + resources.map { $0.appendingPathComponent("Info.plist") }
                    + [directory.deletingLastPathComponent().appendingPathComponent("Info.plist")]
            ),
            entitlements: Self.file(
                named: environment["NFC_ENTITLEMENTS"],
                or: ([directory] + resources).map { $0.appendingPathComponent("\(name).entitlements") }
            ),
            isStrict: environment["NFC_STRICT"] == "1"
        )
    }

    /// The folders of an executable's resources, which the package manager puts beside it: `PACKAGE_TARGET.resources`.
    ///
    /// The package manager refuses an `Info.plist` as a resource of its own (a bundle on Apple's systems has one
    /// already). So the files may be in a folder `Resources` of the resources.
    private static func resources(of name: String, in directory: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        let bundles = names.filter { $0 == "\(name).resources" || $0.hasSuffix("_\(name).resources") }.sorted()
        return bundles.map(directory.appendingPathComponent).flatMap {
            [$0, $0.appendingPathComponent("Resources")]
        }
    }

    /// Reads the named file, or the first candidate that is a property list.
    private static func file(named path: String?, or candidates: [URL]) -> PropertyFile? {
        if let path, !path.isEmpty {
            // A named file that can't be read counts as an empty one. Otherwise nobody would notice that it is missing.
            return PropertyFile(path: path, values: data(path).flatMap { parse($0) } ?? [:])
        }
        for url in candidates {
            guard let data = data(url.path), let values = parse(data) else { continue }
            return PropertyFile(path: url.path, values: values)
        }
        return nil
    }

    /// Larger than any app's property list. Pipes are not read.
    private static let maximumSize = 1 << 20

    private static func data(_ path: String) -> Data? {
        (try? InputFile(path, limit: maximumSize).readToEnd()).map { Data($0) }
    }

    /// Reads the strings, lists of strings and flags of a property list; nil when the data are not a property list.
    package static func parse(_ data: Data) -> [String: [String]]? {
        guard let list = try? unsafe PropertyListSerialization.propertyList(from: data, options: [], format: nil),
            let dictionary = list as? [String: Any]
        else { return nil }
        return dictionary.compactMapValues { value in
            switch value {
            case let text as String: [text]
            case let texts as [String]: texts
            // `as` converts the numbers 0 and 1 too, but a number is no flag to iOS.
            case let flag as Bool where type(of: value) == Bool.self: flag ? ["true"] : []
            default: nil
            }
        }
    }
}
