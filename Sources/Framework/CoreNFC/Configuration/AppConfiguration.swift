// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import NFCSessions
import TagLink
import TextSafety

/// An app's declarations for Core NFC, in its property list and entitlements.
///
/// This is a plain value, so that tests can check without an app how iOS would react.
package struct AppConfiguration: Sendable, Hashable {
    package struct PropertyFile: Sendable, Hashable {
        /// The path of the file.
        package var path: String
        /// Strings, and lists of strings, by key.
        package var values: [String: [String]]

        package init(path: String, values: [String: [String]]) {
            self.path = path
            self.values = values
        }

        package subscript(key: Key) -> [String] { values[key.rawValue] ?? [] }
    }

    package enum Key: String, Sendable {
        case usageDescription = "NFCReaderUsageDescription"
        case selectIdentifiers = "com.apple.developer.nfc.readersession.iso7816.select-identifiers"
        case systemCodes = "com.apple.developer.nfc.readersession.felica.systemcodes"
        case formats = "com.apple.developer.nfc.readersession.formats"
        case cardEmulation = "com.apple.developer.nfc.hce"
        case cardIdentifierPrefixes = "com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes"
    }

    /// The app's property list; nil when the file is missing.
    package var infoPlist: PropertyFile?
    /// The app's entitlements; nil when the file is missing.
    package var entitlements: PropertyFile?
    /// Whether a missing entry ends the process. If true, a missing file is treated as an empty file.
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

    /// The configuration of a test. It applies to the task that sets it, and to that task's children.
    @TaskLocal package static var scoped: AppConfiguration?

    /// The configuration of the process, which is read once.
    package static let process = AppConfiguration(
        environment: ProcessInfo.processInfo.environment,
        executable: Bundle.main.executablePath ?? CommandLine.arguments.first ?? ""
    )

    package static var current: AppConfiguration {
        scoped ?? NFCEnvironment.ofTest?.app.map { AppConfiguration($0) } ?? process
    }

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
    /// Returns a copy without the declarations that a simulated phone denies.
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
    /// `NFC_INFO_PLIST` and `NFC_ENTITLEMENTS` name the files. Otherwise, the files are an `Info.plist`, and a file
    /// with the executable's name and the extension `entitlements`. These are searched for beside the executable, in
    /// its bundle, and in the resources of the package target with the executable's name. `NFC_STRICT=1` makes the
    /// configuration strict.
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

    /// Returns the folders of an executable's resources. SwiftPM creates `PACKAGE_TARGET.resources` beside the
    /// executable.
    ///
    /// SwiftPM does not allow an `Info.plist` as a single resource, so the files may be in a subfolder `Resources`.
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
            // A named file that can't be read is treated as an empty file, so that the user notices that it is missing.
            return PropertyFile(path: path, values: data(path).flatMap { parse($0) } ?? [:])
        }
        for url in candidates {
            guard let data = data(url.path), let values = parse(data) else { continue }
            return PropertyFile(path: url.path, values: values)
        }
        return nil
    }

    /// The maximum size of a file in bytes, larger than any app's property list. Pipes are not read.
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
            // `as` also converts the numbers 0 and 1, but iOS does not accept a number as a flag.
            case let flag as Bool where type(of: value) == Bool.self: flag ? ["true"] : []
            default: nil
            }
        }
    }
}

extension AppConfiguration {
    package enum Request: Sendable, Hashable {
        case ndef
        /// A tag session. The values say whether its polling options contain ISO 18092 and PACE.
        case tags(feliCa: Bool, pace: Bool)
        case vas
        case payment
        case cardEmulation
    }

    package struct Violation: Error, Sendable, Hashable {
        package var key: Key
        package var file: String
        /// A sentence that says how to add the entry.
        package var fix: String

        /// A text for people with the key, the file and the fix.
        package var message: String { "\(key.rawValue) is missing from \(file). \(fix)" }

        package var readerError: NFCReaderError {
            NFCReaderError(.readerErrorSecurityViolation, reason: message)
        }
    }

    package enum Verdict: Sendable, Hashable {
        /// The session runs. The notes list the entries that an app without configuration files would need on iOS.
        case allowed(notes: [Violation])
        /// The session ends at once, with code 2.
        case refused(Violation)
        case endsProcess(Violation)
    }

    /// Returns how iOS would react to a request.
    package static func evaluate(_ configuration: AppConfiguration, _ request: Request) -> Verdict {
        var notes: [Violation] = []
        for need in needs(of: request) {
            let isEntitlement = need.key == .formats || need.key == .cardEmulation
            let file = isEntitlement ? configuration.entitlements : configuration.infoPlist
            if let file, need.isMet(file[need.key]) { continue }
            let name = file?.path ?? (isEntitlement ? "the app's entitlements" : "the app's Info.plist")
            let violation = Violation(key: need.key, file: name, fix: need.fix)
            if file == nil, !configuration.isStrict {
                notes.append(violation)
            } else if need.key == .usageDescription || configuration.isStrict {
                return .endsProcess(violation)
            } else {
                return .refused(violation)
            }
        }
        return .allowed(notes: notes)
    }

    private struct Need {
        var key: Key
        var fix: String
        var isMet: ([String]) -> Bool
    }

    private static func needs(of request: Request) -> [Need] {
        func format(_ name: String, or other: String? = nil) -> Need {
            Need(key: .formats, fix: "Add it with \(name) among its values.") { values in
                values.contains { $0 == name || $0 == other }
            }
        }
        let usage = Need(
            key: .usageDescription,
            fix: "Add it with a sentence that says why the app reads NFC tags."
        ) { values in values.contains { !$0.isEmpty } }
        let systems = Need(
            key: .systemCodes,
            fix: "Add it with the FeliCa system codes that the app polls for, such as 0003."
        ) { !$0.isEmpty }
        switch request {
        case .ndef: return [usage, format("TAG", or: "NDEF")]
        case .tags(let feliCa, let pace):
            return [usage, format("TAG")] + (pace ? [format("PACE")] : []) + (feliCa ? [systems] : [])
        case .vas: return [usage, format("VAS")]
        case .payment: return [usage, format("TAG")]
        case .cardEmulation:
            let fix = "Add it with the value true, and the prefixes of the applications to emulate."
            return [Need(key: .cardEmulation, fix: fix) { $0 == ["true"] }]
        }
    }

    // MARK: Commands

    /// Returns an error for an APDU that selects an application that the app does not list; nil if allowed.
    package func violation(of apdu: NFCISO7816APDU) -> NFCReaderError? {
        guard let infoPlist, apdu.instructionCode == 0xA4, apdu.p1Parameter == 0x04 else { return nil }
        let name = (apdu.data ?? Data()).hexText().uppercased()
        guard !selectIdentifiers.contains(name) else { return nil }
        return Violation(
            key: .selectIdentifiers,
            file: infoPlist.path,
            fix: name.isEmpty
                ? "A SELECT by name must give the name of an application in this list."
                : "Add the application \(name) to its values."
        ).readerError
    }

    /// Returns an error for polling a system code that the app does not list; nil when polling is allowed.
    package func violation(ofPolling systemCode: Data) -> NFCReaderError? {
        guard let infoPlist else { return nil }
        let name = systemCode.hexText().uppercased()
        guard !systemCodes.contains(name) else { return nil }
        return Violation(
            key: .systemCodes,
            file: infoPlist.path,
            fix: "Add the system code \(name) to its values."
        ).readerError
    }

    /// Returns whether the app declares an application, so that a reader may select it.
    package func mayEmulate(_ aid: [UInt8]) -> Bool {
        guard let entitlements else { return true }
        let name = Data(aid).hexText().uppercased()
        return entitlements[.cardIdentifierPrefixes].contains { name.hasPrefix($0.uppercased()) }
    }

    // MARK: Checks

    /// Checks whether a session may begin.
    ///
    /// If iOS would end the process, this function does the same, with a message that names the key, the file and the
    /// fix; in a test, it ends the test. If the app has no configuration files, it prints once which entries iOS would
    /// require.
    ///
    /// - Returns: the error with which the session ends; nil when the session may begin.
    func error(for request: Request, in environment: NFCEnvironment) -> NFCReaderError? {
        switch Self.evaluate(self, request) {
        case .allowed(let notes):
            // A test has no app whose files could be missing.
            guard !notes.isEmpty, NFCEnvironment.ofTest == nil else { return nil }
            let messages = notes.map(\.message).joined(separator: " ")
            let isFirst = Self.hasNoted.withLock { hasNoted in
                defer { hasNoted = true }
                return !hasNoted
            }
            if isFirst { environment.print("this works here, but iOS would require more. \(messages)") }
            return nil
        case .refused(let violation):
            environment.print("the session was refused. \(violation.message)")
            return violation.readerError
        case .endsProcess(let violation):
            Self.endApp(violation.message, in: environment)
            return violation.readerError
        }
    }

    private static let hasNoted = Locked(false)

    /// Ends the process, as iOS would; or the test, if the environment belongs to one of the test kit.
    static func endApp(_ reason: String, in environment: NFCEnvironment) {
        if environment.testContext?.end(because: "The app ends here on iOS. \(reason)") == true { return }
        let line = "CoreNFC: the process ends, as it would on iOS. \(reason)"
        OutputDescriptor.standardError.write(VisibleText.escaped(line) + "\n")
        abort()
    }
}
