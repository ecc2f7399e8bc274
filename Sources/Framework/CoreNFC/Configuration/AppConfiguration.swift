// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import NFCSessions
import TagLink
import TextSafety

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

extension AppConfiguration {
    /// What an app asks for when it begins a session.
    package enum Request: Sendable, Hashable {
        /// An NDEF session.
        case ndef
        /// A tag session, with whether its polling options contain ISO 18092 and PACE.
        case tags(feliCa: Bool, pace: Bool)
        /// A VAS session.
        case vas
        /// A session for payment cards.
        case payment
        /// Card emulation.
        case cardEmulation
    }

    /// What an app's configuration lacks.
    package struct Violation: Error, Sendable, Hashable {
        /// The entry that is missing.
        package var key: Key
        /// The file in which it is missing.
        package var file: String
        /// What to add.
        package var fix: String

        /// The key, the file and the fix as one text for people.
        package var message: String { "\(key.rawValue) is missing in \(file). \(fix)" }

        /// The error that the app receives.
        package var readerError: NFCReaderError {
            NFCReaderError(.readerErrorSecurityViolation, reason: message)
        }
    }

    /// What iOS would do.
    package enum Verdict: Sendable, Hashable {
        /// The session runs. The notes say what an app without a configuration would need on iOS.
        case allowed(notes: [Violation])
        /// The session ends at once, with code 2.
        case refused(Violation)
        /// The process ends.
        case endsProcess(Violation)
    }

    /// Decides what iOS would do with a request.
    ///
    /// - Parameter configuration: what the app declares.
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

    /// The error for an APDU that selects an application that the app does not list; nil when the APDU may be sent.
    package func violation(of apdu: NFCISO7816APDU) -> NFCReaderError? {
        guard let infoPlist, apdu.instructionCode == 0xA4, apdu.p1Parameter == 0x04, let aid = apdu.data else {
            return nil
        }
        let name = aid.hexText().uppercased()
        guard !selectIdentifiers.contains(name) else { return nil }
        return Violation(
            key: .selectIdentifiers,
            file: infoPlist.path,
            fix: "Add the application \(name) to its values."
        ).readerError
    }

    /// The error for polling for a system code that the app does not list; nil when it may be polled for.
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

    /// Whether a reader may select an application of this app.
    package func mayEmulate(_ aid: [UInt8]) -> Bool {
        guard let entitlements else { return true }
        let name = Data(aid).hexText().uppercased()
        return entitlements[.cardIdentifierPrefixes].contains { name.hasPrefix($0.uppercased()) }
    }

    // MARK: What happens

    /// Checks whether a session may begin.
    ///
    /// Where iOS would end the process, this ends it with a message that names the key, the file and the fix. For an
    /// app without a configuration it writes one line, once, about what iOS would have done.
    ///
    /// - Returns: the error that the session ends with; nil when it may begin.
    func error(for request: Request, in environment: NFCEnvironment) -> NFCReaderError? {
        switch Self.evaluate(self, request) {
        case .allowed(let notes):
            // A test has a field of its own and no app around it.
            guard !notes.isEmpty, NFCEnvironment.ofTest == nil else { return nil }
            let messages = notes.map(\.message).joined(separator: " ")
            let isFirst = Self.hasNoted.withLock { hasNoted in
                defer { hasNoted = true }
                return !hasNoted
            }
            if isFirst { environment.print("this runs here, and on iOS it would need more. \(messages)") }
            return nil
        case .refused(let violation):
            environment.print("the session was refused. \(violation.message)")
            return violation.readerError
        case .endsProcess(let violation): Self.endProcess(violation.message)
        }
    }

    private static let hasNoted = Locked(false)

    /// Ends the process, where iOS would do so.
    static func endProcess(_ reason: String) -> Never {
        let line = "CoreNFC: the process ends, as it would on iOS. \(reason)"
        OutputDescriptor.standardError.write(VisibleText.escaped(line) + "\n")
        abort()
    }
}
