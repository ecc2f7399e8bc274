// SPDX-License-Identifier: Apache-2.0
import Foundation
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
