// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import LinuxSupport
public import NFCSessions

extension AppProperties {
    /// The maximum size of a file in bytes, larger than any app's property list.
    private static let maximumSize = 1 << 20

    /// Reads the property list and the entitlements of the app.
    ///
    /// ```swift
    /// let app = try AppProperties(contentsOf: "App/Info.plist", entitlements: "App/App.entitlements")
    /// ```
    ///
    /// The files are XML or binary property lists. The initializer reads strings, lists of strings, and Boolean values.
    /// Core NFC needs no other values, so these are ignored. Build settings such as `$(PRODUCT_NAME)` are not replaced.
    ///
    /// - Parameters:
    ///   - infoPlist: the path of the `Info.plist`, relative to the working directory, which is the package's in
    ///     `swift test`; nil for none.
    ///   - entitlements: the path of the entitlements; nil for none.
    /// - Throws: ``FieldError`` with `badAppFile` and the file's name, when the file is missing, can't be read, or is
    ///   not a property list.
    public init(contentsOf infoPlist: String?, entitlements: String? = nil) throws(FieldError) {
        self.init(
            infoPlist: try Self.values(of: infoPlist, called: "Info.plist"),
            entitlements: try Self.values(of: entitlements, called: "entitlements")
        )
    }

    private static func values(of path: String?, called name: String) throws(FieldError) -> [String: Value]? {
        guard let path else { return nil }
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try InputFile(path, limit: maximumSize).readToEnd()
        } catch {
            throw FieldError(
                .badAppFile,
                """
                The app's \(name) can't be read. \(error.reason) The working folder is \
                \(FileManager.default.currentDirectoryPath); give a path relative to it, or an absolute path.
                """
            )
        }
        guard let values = AppConfiguration.parse(Data(bytes)) else {
            throw FieldError(
                .badAppFile,
                "The app's \(name), \(path), is not a property list with keys. Name the file that Xcode builds the app with."
            )
        }
        return values.mapValues { Value($0) }
    }
}
