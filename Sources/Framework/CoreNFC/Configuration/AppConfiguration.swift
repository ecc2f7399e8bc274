// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import NFCSessions

/// What an app declares for Core NFC in its property list and its entitlements.
///
/// It is a plain value, so that tests can check without an app what iOS would do.
package struct AppConfiguration: Sendable, Hashable {
    /// A property list that was found.
    package struct PropertyFile: Sendable, Hashable {
        /// Where it was found.
        package var path: String
        /// Strings, and lists of strings, by key.
        package var values: [String: [String]]

        package init(path: String, values: [String: [String]]) {
            self.path = path
            self.values = values
        }

        package subscript(key: Key) -> [String] { values[key.rawValue] ?? [] }
    }

    /// The keys that Core NFC reads.
    package enum Key: String, Sendable {
        case usageDescription = "NFCReaderUsageDescription"
        case selectIdentifiers = "com.apple.developer.nfc.readersession.iso7816.select-identifiers"
        case systemCodes = "com.apple.developer.nfc.readersession.felica.systemcodes"
        case formats = "com.apple.developer.nfc.readersession.formats"
        case cardEmulation = "com.apple.developer.nfc.hce"
        case cardIdentifierPrefixes = "com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes"
    }

    /// The app's property list; nil when it has none.
    package var infoPlist: PropertyFile?
    /// The app's entitlements; nil when it has none.
    package var entitlements: PropertyFile?
    /// Whether a missing entry ends the process. A missing file then counts as an empty one.
    package var isStrict: Bool

    package init(infoPlist: PropertyFile? = nil, entitlements: PropertyFile? = nil, isStrict: Bool = false) {
        self.infoPlist = infoPlist
        self.entitlements = entitlements
        self.isStrict = isStrict
    }

    /// The applications that the app lists, in order, in upper-case hexadecimal digits.
    package var selectIdentifiers: [String] { (infoPlist?[.selectIdentifiers] ?? []).map { $0.uppercased() } }

    /// The FeliCa system codes that the app lists, in order, in upper-case hexadecimal digits.
    package var systemCodes: [String] { (infoPlist?[.systemCodes] ?? []).map { $0.uppercased() } }

    /// The configuration of a test, for the task that set it and its children.
    @TaskLocal package static var scoped: AppConfiguration?

    /// The configuration of the process, read once.
    package static let process = AppConfiguration(
        environment: ProcessInfo.processInfo.environment,
        executable: Bundle.main.executablePath ?? CommandLine.arguments.first ?? ""
    )

    /// The configuration of a session that is created now.
    package static var current: AppConfiguration {
        scoped ?? NFCEnvironment.ofTest?.app.map { AppConfiguration($0) } ?? process
    }

    /// The configuration of a test that declares it in code.
    private init(_ app: AppProperties) {
        self.init(
            infoPlist: app.infoPlist.map { PropertyFile(path: "the test's Info.plist", values: $0.mapValues(\.texts)) },
            entitlements: app.entitlements.map {
                PropertyFile(path: "the test's entitlements", values: $0.mapValues(\.texts))
            },
            isStrict: app.isStrict
        )
    }
}

extension AppConfiguration {
    /// The configuration of an app that lacks what a phone withholds.
    func without(_ needs: SessionNeeds) -> AppConfiguration {
        var configuration = self
        if needs.contains(.entitlement) {
            let path = entitlements?.path ?? "the app's entitlements"
            configuration.entitlements = PropertyFile(path: path, values: [:])
        }
        if needs.contains(.usageText) {
            var file = infoPlist ?? PropertyFile(path: "the app's Info.plist", values: [:])
            file.values[Key.usageDescription.rawValue] = nil
            configuration.infoPlist = file
        }
        return configuration
    }
}

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
