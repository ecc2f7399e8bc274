// SPDX-License-Identifier: Apache-2.0
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
        guard
            let list = try? unsafe PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil),
            let dictionary = list as? [String: Any]
        else {
            throw FieldError(
                .badAppFile,
                "The app's \(name), \(path), is not a property list with keys. Name the file that Xcode builds the app with."
            )
        }
        return dictionary.compactMapValues { value in
            switch value {
            case let text as String: Value([text])
            case let texts as [String]: Value(texts)
            // `as` also converts the numbers 0 and 1, but iOS does not accept a number as a flag.
            case let flag as Bool where type(of: value) == Bool.self: Value(booleanLiteral: flag)
            default: nil
            }
        }
    }
}
