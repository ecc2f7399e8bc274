// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
public import PrivateStorage
import SystemLibrary

/// The installed apps: what the folders for data have in `nfc/apps`, with the desktop entries in `applications`.
///
/// A file of the user's hides those of the same name in the system's folders.
public struct InstalledApps: Sendable, Hashable {
    /// A description that is no app, or part of which has no effect.
    public struct Problem: Sendable, Hashable {
        /// The file.
        public var path: String
        /// What is wrong, as a sentence for people.
        public var reason: String
    }

    /// The most descriptions of one folder.
    public static let maximumCount = 1000

    /// The apps, each identifier once.
    public private(set) var apps: [InstalledApp] = []
    /// What is wrong with descriptions.
    public private(set) var problems: [Problem] = []

    /// Reads the descriptions.
    ///
    /// - Parameter folders: the user's folders.
    public init(_ folders: UserFolders) {
        var seen: Set<String> = []
        var identifiers: Set<String> = []
        for folder in folders.allData {
            let own = folder + "/nfc/apps"
            for file in Self.descriptions(in: own) {
                let path = "\(own)/\(file)"
                guard seen.insert(file).inserted else { continue }
                do throws(Failure) {
                    let app = try read(path, String(file.dropLast(5)), folders)
                    guard identifiers.insert(app.id).inserted else {
                        throw Failure(reason: "Another app has the identifier \(app.id) already.")
                    }
                    apps.append(app)
                } catch {
                    problems.append(Problem(path: path, reason: error.reason))
                }
            }
        }
    }

    /// The names of the descriptions in a folder.
    private static func descriptions(in folder: String) -> [String] {
        FolderNames.read(folder, limit: maximumCount) { $0.hasSuffix(".json") && $0 != ".json" } ?? []
    }

    private struct Failure: Error {
        var reason: String
    }

    private mutating func read(
        _ path: String,
        _ name: String,
        _ folders: UserFolders
    ) throws(Failure) -> InstalledApp {
        guard DesktopEntry.isName(name) else {
            throw Failure(reason: "The file's name can't be that of a desktop entry.")
        }
        let description: AppDescription
        do {
            description = try AppDescription(parsing: TrustedFile.read(path, limit: AppDescription.maximumSize))
        } catch let error as AppDescription.Problem {
            throw Failure(reason: error.reason)
        } catch {
            throw Failure(reason: "\(error)")
        }
        let entry: DesktopEntry
        do throws(DesktopEntries.Problem) {
            entry = try DesktopEntries(folders).entry(name).entry
        } catch {
            throw Failure(reason: error.reason)
        }
        problems += description.remarks.map { Problem(path: path, reason: $0) }
        return InstalledApp(
            id: description.id,
            name: entry.name,
            desktopID: name,
            associatedDomains: description.associatedDomains,
            ignoredDomains: description.ignoredDomains,
            schemes: entry.schemes,
            isBusActivated: entry.isBusActivated
        )
    }
}
